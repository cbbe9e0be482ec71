// SPDX-License-Identifier: MIT
// TOP: what a reader sees while packets come.
#include "support/catch.hpp"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "support/function_memory.hpp"

namespace
{
constexpr uint32_t kPorts = 300;
constexpr int kRows = 50;

// An Ethernet frame with IPv4 and UDP to this port.
std::vector<uint8_t> frame_to(uint16_t port)
{
    std::vector<uint8_t> frame(14 + 20 + 8);
    frame[12] = 8;
    frame[14] = 0x45;
    frame[17] = 28;
    frame[23] = 17;
    frame[36] = uint8_t(port >> 8);
    frame[37] = uint8_t(port);
    return frame;
}

// TOP with 50 rows of UDP ports, as the engine makes it.
class TopFunction
{
public:
    TopFunction()
    {
        const int64_t given[] = {kRows, TOPX_UDP, TOPX_UDP_DSTPORT, SORT_BY_PACKETS, 0};
        for (size_t i = 0; i < 5; ++i) {
            arguments_[i].kind = 'i';
            arguments_[i].number = given[i];
        }
        mapi_function_setup setup = {};
        setup.arguments = arguments_;
        setup.argument_count = 5;
        setup.error = error_;
        setup.error_bytes = sizeof(error_);
        setup.engine = this;
        give_memory(setup);
        setup.allocate_result = [](const mapi_function_setup *with, uint32_t bytes) {
            auto &words = static_cast<TopFunction *>(with->engine)->words_;
            words.resize((bytes + 7) / 8);
            return words.data();
        };
        REQUIRE(mapi_fn_top.create(&setup, &instance_) == 0);
    }
    ~TopFunction() { mapi_fn_top.destroy(instance_); }
    TopFunction(const TopFunction &) = delete;
    TopFunction &operator=(const TopFunction &) = delete;

    void run(const mapi_batch &batch) { CHECK(mapi_fn_top.process(instance_, &batch, batch.all) == batch.all); }
    void end() { mapi_fn_top.end(instance_); }
    std::vector<uint64_t> read() const
    {
        std::vector<uint64_t> copy(words_.size());
        mapi_fn_top.read_result(instance_, copy.data());
        return copy;
    }

private:
    mapi_argument arguments_[5] = {};
    char error_[512] = "";
    std::vector<uint64_t> words_;
    void *instance_ = nullptr;
};

// Sorted, each value once, no row missing before the last.
bool is_of_one_moment(const mapi_top_t &top)
{
    std::set<uint32_t> values;
    for (uint32_t i = 0; i < top.rows; ++i) {
        const topx_result &row = (&top.row[0])[i];
        if (row.count == 0 || row.bytecount != row.count * 60 || !values.insert(row.value).second)
            return false;
        if (i > 0 && row.count > (&top.row[0])[i - 1].count)
            return false;
    }
    return true;
}
} // namespace

TEST_CASE("rows that are read while packets come are sorted and name no value twice", "[mapi-core][functions]")
{
    std::vector<std::vector<uint8_t>> frames;
    for (uint32_t port = 0; port < kPorts; ++port)
        frames.push_back(frame_to(uint16_t(port)));
    TopFunction top;
    std::atomic<bool> has_ended = false;
    uint64_t reads = 0, torn = 0;
    std::thread reader([&] {
        while (!has_ended.load()) {
            const auto copy = top.read();
            torn += !is_of_one_moment(*reinterpret_cast<const mapi_top_t *>(copy.data()));
            ++reads;
        }
    });
    uint32_t random = 1;
    for (int round = 0; round < 20000; ++round) {
        mapi_packet packets[MAPI_BATCH_MAX];
        for (mapi_packet &packet : packets) {
            random = random * 1664525u + 1013904223u;
            const auto &frame = frames[(random >> 16) % kPorts];
            packet = {frame.data(), uint32_t(frame.size()), 60, 1000000000, 1, 0, 0};
        }
        mapi_batch batch;
        mapi_batch_fill(&batch, packets, MAPI_BATCH_MAX);
        top.run(batch);
    }
    top.end();
    has_ended = true;
    reader.join();
    CHECK(reads > 0);
    CHECK(torn == 0);
    const auto last = top.read();
    const auto &found = *reinterpret_cast<const mapi_top_t *>(last.data());
    CHECK(found.rows == kRows);
    CHECK(is_of_one_moment(found));
    CHECK(found.row[0].last_rst_secs == 1);
}
