// SPDX-License-Identifier: MIT
// TOP: what a reader sees while packets arrive.
#include "support/catch.hpp"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <mapi/results.h>
#include <mapi/topx.h>

#include "engine/node/node.hpp"
#include "functions/catalog.hpp"

using mapi::engine::Node;

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

// TOP with 50 rows of UDP ports in an engine whose device thread is this one.
class TopNode
{
public:
    TopNode()
        : node_(std::make_shared<Node>(mapi_fn_top, arguments(), mapi_driver_info{}, totals_,
                                       std::make_shared<mapi::engine::Client>(),
                                       mapi::engine::FlowOptions{}))
    {
    }

    void run(const mapi_batch &batch)
    {
        totals_->packets += batch.count;
        CHECK(node_->run(batch, batch.all) == batch.all);
        node_->publish_when_due();
    }
    void end() { node_->end(); }
    // From any thread.
    std::vector<uint64_t> read() const
    {
        std::vector<uint64_t> copy(mapi::engine::Published::words_for(node_->output().bytes()));
        node_->read_result(copy.data());
        return copy;
    }

private:
    static mapi::engine::Arguments arguments()
    {
        mapi::engine::Arguments arguments;
        for (const int64_t number : {int64_t(kRows), int64_t(TOPX_UDP), int64_t(TOPX_UDP_DSTPORT),
                                     int64_t(SORT_BY_PACKETS), int64_t(0)})
            arguments.push_back({'i', number, "", {}});
        return arguments;
    }

    const std::shared_ptr<mapi::engine::DeviceTotals> totals_ =
        std::make_shared<mapi::engine::DeviceTotals>();
    const std::shared_ptr<Node> node_;
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

TEST_CASE("rows read while packets arrive are sorted and contain no value twice",
          "[mapi-core][functions]")
{
    std::vector<std::vector<uint8_t>> frames;
    for (uint32_t port = 0; port < kPorts; ++port)
        frames.push_back(frame_to(uint16_t(port)));
    TopNode top;
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
