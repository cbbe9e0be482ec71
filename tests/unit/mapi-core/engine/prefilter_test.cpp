// SPDX-License-Identifier: MIT
// Prefilter: results computed by a driver's own thread -> the same counts as without it, and no
// function runs twice.
#include "support/catch.hpp"

#include <chrono>
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
// FIRST_BYTE n: passes packets whose byte is n; for n = 1 it can be prefiltered, and many of them
// as a group.
int processed, processed_as_group;

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

using Bytes = std::vector<int64_t *>; // of the instances of a group

mapi_function make_grouped_byte()
{
    mapi_function table = kFirstByte;
    static mapi_function_group group = {};
    group.struct_size = sizeof(group);
    group.create = [](void *const *instances, uint32_t count, void **made) {
        auto bytes = std::make_unique<Bytes>();
        for (uint32_t i = 0; i < count; ++i)
            bytes->push_back(static_cast<int64_t *>(instances[i]));
        *made = bytes.release();
        return 0;
    };
    group.process = [](void *bytes, const mapi_batch *batch, uint64_t mask,
                       mapi_group_passed *passed) {
        ++processed_as_group;
        uint32_t count = 0, instance = 0;
        for (const int64_t *byte : *static_cast<Bytes *>(bytes)) {
            if (const uint64_t own = passing(byte, *batch) & mask)
                passed[count++] = {own, instance};
            ++instance;
        }
        return count;
    };
    group.destroy = [](void *bytes) { delete static_cast<Bytes *>(bytes); };
    group.prefilter = [](const void *bytes, const mapi_batch *batch, uint64_t *possible) {
        *possible = 0;
        for (const int64_t *byte : *static_cast<const Bytes *>(bytes))
            *possible |= passing(byte, *batch);
        return 1;
    };
    table.group = &group;
    return table;
}

const mapi_function kGroupedByte = make_grouped_byte();

struct ByteFlow {
    std::shared_ptr<Flow> flow;
    int filter, passed;

    ByteFlow(const std::shared_ptr<Device> &device, int64_t byte,
             const mapi_function &function = kFirstByte)
        : flow(std::make_shared<Flow>(device))
    {
        flow->apply(mapi_fn_pkt_counter, {});
        filter = flow->apply(function, {Argument{'i', byte, "", {}}});
        passed = flow->apply(mapi_fn_pkt_counter, {});
        flow->connect();
    }
    ~ByteFlow() { flow->close(); }
    uint64_t count() { return value(*flow, passed); }
};

// A group is created in a separate thread: gives 64 packets at a time until it runs, and returns
// how often.
uint64_t give_until_grouped()
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    uint64_t times = 0;
    do {
        REQUIRE(std::chrono::steady_clock::now() < end);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        processed = 0;
        FakeSource::instance().give(64);
        ++times;
    } while (processed != 0);
    return times;
}

// Packets that pass each of many filters on a capture that is read by one or two threads: filters
// of lengths, which run one by one, or of ports, which run as a group.
std::vector<uint64_t> count_each(const std::string &path, unsigned batch, size_t filters,
                                 bool are_ports)
{
    mapi::engine::DeviceSettings settings;
    settings.name = settings.path = path;
    settings.batch = batch;
    const auto device = std::make_shared<Device>(1, settings, mapi_driver_pcap_file, false);
    std::vector<std::shared_ptr<Flow>> flows;
    std::vector<int> counters;
    for (size_t i = 0; i < filters; ++i) {
        flows.push_back(std::make_shared<Flow>(device));
        const std::string expression =
            are_ports ? "port " + std::to_string(i) : "len >= " + std::to_string(i * 70);
        flows.back()->apply(mapi_fn_bpf_filter, {Argument{'s', 0, expression, {}}});
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

TEST_CASE("of packets that no function of a prefiltered group passes, the group gets none",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const int64_t first = GENERATE(0, 1, 2); // packets have 0 and 1
    std::vector<std::unique_ptr<ByteFlow>> flows;
    for (int64_t byte = first; byte < first + 10; ++byte)
        flows.push_back(std::make_unique<ByteFlow>(device, byte, kGroupedByte));
    FakeSource::instance().prefilter(Prefiltering::kEach);
    const uint64_t batches = give_until_grouped();
    const uint64_t zeros = first == 0 ? 1 : 0, ones = first < 2 ? 1 : 0;
    processed_as_group = 0;

    FakeSource::instance().give(64);

    CHECK(processed == 0);
    CHECK(processed_as_group == int(ones));
    CHECK(flows[0]->count() == 32 * (batches + 1) * ones);
    CHECK(flows[1]->count() == 32 * (batches + 1) * zeros);
    {
        test_support::ProbeSession session;
        FakeSource::instance().give(64);
        CHECK(processed_as_group == 1 + int(ones));
    }
    flows[0].reset(); // the group has its instance still
    FakeSource::instance().give(64);
    CHECK(flows[1]->count() == 32 * (batches + 3) * zeros);
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
            const size_t bytes = 42 + random() % 872;
            std::string packet(bytes, 'x'); // UDP in IPv4, between two of 64 ports
            packet.replace(12, 12, std::string("\x08\0\x45\0\0\0\0\0\0\0\x40\x11", 12));
            packet.replace(34, 4, {'\0', char(random() % 64), '\0', char(random() % 64)});
            capture.pcap_record(packet, uint32_t(bytes));
            sum += bytes;
        }
        return capture.write(dir / "large.pcap");
    }();
    const unsigned batch = GENERATE(1u, 100u, 512u);
    const size_t filters = GENERATE(1u, 3u, 12u, 40u);
    const bool are_ports = GENERATE(false, true);
    std::vector<uint64_t> by_one;
    std::thread([&] {
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(sched_getcpu(), &own);
        sched_setaffinity(0, sizeof(own), &own); // the device's thread inherits it
        by_one = count_each(path, batch, filters, are_ports);
    }).join();
    CHECK(count_each(path, batch, filters, are_ports) == by_one);
    CHECK(by_one[0] > (are_ports ? 1000 : 100000));
}
