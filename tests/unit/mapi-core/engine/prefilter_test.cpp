// SPDX-License-Identifier: MIT
// Prefilter: results computed by a driver's own thread -> the same counts as without it, and no
// function runs twice.
#include "support/catch.hpp"

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>

#include "drivers/catalog.hpp"

#include "functions/catalog.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"
#include "support/probe_session.hpp"
#include "support/temp_dir.hpp"

using mapi::engine::Argument;
using mapi::engine::Device;
using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;
using test_support::Prefiltering;
using test_support::value;

namespace
{
// FIRST_BYTE n: passes packets whose byte is n; for n = 1 it can be prefiltered.
int processed;

uint64_t passing(const void *instance, const mapi_batch &batch)
{
    uint64_t passed = 0;
    for (uint32_t i = 0; i < batch.count; ++i)
        passed |= uint64_t(batch.packets[i].data[0] == *static_cast<const int64_t *>(instance))
                  << i;
    return passed;
}

mapi_function make_first_byte()
{
    mapi_function table = test_support::function_table("FIRST_BYTE", "i");
    table.flags = MAPI_FUNCTION_PURE;
    table.create = [](const mapi_function_setup *setup, void **instance) {
        *instance = new int64_t(setup->arguments[0].number);
        return 0;
    };
    table.process = [](void *instance, const mapi_batch *batch, uint64_t mask) {
        ++processed;
        return passing(instance, *batch) & mask;
    };
    static mapi_function_filter filter = {};
    filter.struct_size = sizeof(filter);
    table.filter = &filter;
    filter.prefilter = [](const void *instance, const mapi_batch *batch, uint64_t *passed) {
        *passed = passing(instance, *batch);
        return int(*static_cast<const int64_t *>(instance) != 0);
    };
    table.destroy = [](void *instance) { delete static_cast<int64_t *>(instance); };
    return table;
}

const mapi_function kFirstByte = make_first_byte();

struct ByteFlow {
    std::shared_ptr<Flow> flow;
    int filter, passed;

    ByteFlow(const std::shared_ptr<Device> &device, int64_t byte)
        : flow(std::make_shared<Flow>(device))
    {
        flow->apply(mapi_fn_pkt_counter, {});
        filter = flow->apply(kFirstByte, {Argument{'i', byte, "", {}}});
        passed = flow->apply(mapi_fn_pkt_counter, {});
        flow->connect();
    }
    ~ByteFlow() { flow->close(); }
    uint64_t count() { return value(*flow, passed); }
};

// Packets that pass each of many filters on a capture that is read by one or two threads.
std::vector<uint64_t> count_each(const std::string &path, unsigned batch, size_t filters)
{
    mapi::engine::DeviceSettings settings;
    settings.name = settings.path = path;
    settings.batch = batch;
    const auto device = std::make_shared<Device>(1, settings, mapi_driver_pcap_file, false);
    std::vector<std::shared_ptr<Flow>> flows;
    std::vector<int> counters;
    for (size_t i = 0; i < filters; ++i) {
        flows.push_back(std::make_shared<Flow>(device));
        flows.back()->apply(mapi_fn_bpf_filter,
                            {Argument{'s', 0, "len >= " + std::to_string(i * 70), {}}});
        counters.push_back(flows.back()->apply(mapi_fn_pkt_counter, {}));
        flows.back()->connect();
    }
    device->start();
    std::vector<uint64_t> counts;
    for (size_t i = 0; i < filters; ++i) {
        flows[i]->wait_for_end(-1);
        counts.push_back(value(*flows[i], counters[i]));
    }
    for (const auto &flow : flows)
        flow->close();
    return counts;
}
} // namespace

TEST_CASE("what a driver has prefiltered is not filtered again, and counts the same",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    ByteFlow ones(device, 1), same(device, 1);
    FakeSource::instance().prefilter(Prefiltering::kEach);
    processed = 0;

    FakeSource::instance().give(63);

    CHECK(processed == 0);
    CHECK(ones.count() == 31);
    CHECK(same.count() == 31);
    mapi_function_info_t info = {};
    ones.flow->describe(ones.filter, &info);
    CHECK(info.pkts == 63);
    CHECK(info.passed_pkts == 31);
}

TEST_CASE("a filter that cannot be prefiltered is run with the batch", "[mapi-core][engine]")
{
    const auto device = make_device();
    ByteFlow zeros(device, 0), ones(device, 1);
    FakeSource::instance().prefilter(Prefiltering::kEach);
    processed = 0;

    FakeSource::instance().give(63);

    CHECK(processed == 1);
    CHECK(zeros.count() == 32);
    CHECK(ones.count() == 31);
}

TEST_CASE("while a probe session is open, each filter is run with its batch", "[mapi-core][engine]")
{
    const auto device = make_device();
    ByteFlow ones(device, 1);
    FakeSource::instance().prefilter(Prefiltering::kEach);
    test_support::ProbeSession session;
    processed = 0;

    FakeSource::instance().give(63);

    CHECK(processed == 1);
    CHECK(ones.count() == 31);
    session.close();
    FakeSource::instance().give(63);
    CHECK(processed == 1);
    CHECK(ones.count() == 62);
}

TEST_CASE("packets prefiltered before a flow was added or removed are filtered again",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    auto first = std::make_unique<ByteFlow>(device, 2);
    FakeSource::instance().prefilter(Prefiltering::kEach);
    FakeSource::instance().give(63);
    REQUIRE(first->count() == 0);
    FakeSource::instance().prefilter(Prefiltering::kOld);

    ByteFlow ones(device, 1);
    FakeSource::instance().give(63);
    CHECK(ones.count() == 31);
    first.reset();
    FakeSource::instance().give(63);
    CHECK(ones.count() == 62);
}

TEST_CASE("more filters than a prefilter holds count the same", "[mapi-core][engine]")
{
    const auto device = make_device();
    std::vector<std::unique_ptr<ByteFlow>> flows;
    for (int64_t byte = 0; byte < 2 * MAPI_PREFILTERED_MAX; ++byte)
        flows.push_back(std::make_unique<ByteFlow>(device, byte));
    FakeSource::instance().prefilter(Prefiltering::kEach);

    FakeSource::instance().give(63);
    FakeSource::instance().give(64);

    CHECK(flows[0]->count() == 64);
    CHECK(flows[1]->count() == 63);
    for (size_t i = 2; i < flows.size(); ++i)
        CHECK(flows[i]->count() == 0);
}

TEST_CASE("filters of a large capture count the same with one or two reading threads",
          "[mapi-core][engine]")
{
    static const test_support::TempDir dir;
    static const std::string path = [] {
        test_support::CaptureBuilder capture;
        std::mt19937 random(1);
        capture.pcap_header();
        for (size_t sum = 0; sum < size_t(48) << 20;) {
            const size_t bytes = 14 + random() % 900;
            capture.pcap_record(std::string(bytes, 'x'), uint32_t(bytes));
            sum += bytes;
        }
        return capture.write(dir / "large.pcap");
    }();
    const unsigned batch = GENERATE(1u, 100u, 256u);
    const size_t filters = GENERATE(1u, 3u, 12u);
    std::vector<uint64_t> by_one;
    std::thread([&] {
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(sched_getcpu(), &own);
        sched_setaffinity(0, sizeof(own), &own); // the device's thread inherits it
        by_one = count_each(path, batch, filters);
    }).join();
    CHECK(count_each(path, batch, filters) == by_one);
    CHECK(by_one[0] > 100000);
}
