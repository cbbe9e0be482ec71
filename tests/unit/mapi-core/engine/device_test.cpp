// SPDX-License-Identifier: MIT
// Device, plan, chain: equal functions run once, each flow gets its own numbers, flows are added
// and removed between two packets.
#include "support/catch.hpp"

#include <atomic>

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"

using mapi::engine::Argument;
using mapi::engine::Device;
using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;
using test_support::value;

namespace
{
// PARITY n: passes packets whose byte is n; counts its runs and its live instances.
std::atomic<int> runs, alive;

mapi_function make_parity()
{
    mapi_function table = test_support::function_table("PARITY", "i");
    table.flags = MAPI_FUNCTION_PURE;
    table.create = [](const mapi_function_setup *setup, void **instance) {
        ++alive;
        *instance = new int64_t(setup->arguments[0].number);
        return 0;
    };
    table.process = [](void *instance, const mapi_batch *batch, uint64_t mask) {
        ++runs;
        uint64_t passed = 0;
        for (uint32_t i = 0; i < batch->count; ++i)
            passed |= uint64_t(batch->packets[i].data[0] == *static_cast<int64_t *>(instance)) << i;
        return passed & mask;
    };
    table.destroy = [](void *instance) {
        --alive;
        delete static_cast<int64_t *>(instance);
    };
    return table;
}

const mapi_function kParity = make_parity();

Argument number(int64_t n)
{
    return {'i', n, "", {}};
}

struct ParityFlow {
    std::shared_ptr<Flow> flow;
    int all, parity, passed;

    ParityFlow(const std::shared_ptr<Device> &device, int64_t n, bool counts_all = true)
        : flow(std::make_shared<Flow>(device))
    {
        all = counts_all ? flow->apply(mapi_fn_pkt_counter, {}) : 0;
        parity = flow->apply(kParity, {number(n)});
        passed = flow->apply(mapi_fn_pkt_counter, {});
        flow->connect();
    }
};
// The fake source, live: how long the filter was that it had when it started.
uint32_t filter_count, filter_count_at_start;

mapi_driver make_live()
{
    static const mapi_driver_live live = {sizeof(live),
                                          [](void *, char *, uint32_t) {
                                              filter_count_at_start = filter_count;
                                              return 0;
                                          },
                                          [](void *) { return 1; }};
    static const mapi_driver_filter filter = {sizeof(filter),
                                              [](void *, const mapi_filter_code *, uint32_t count) {
                                                  filter_count = count;
                                                  return 1;
                                              },
                                              nullptr};
    mapi_driver table = FakeSource::table(0);
    table.live = &live;
    table.filter = &filter;
    return table;
}
} // namespace

TEST_CASE("a source has the filter of its first flow before the first packet arrives",
          "[mapi-core][engine]")
{
    static const mapi_driver driver = make_live();
    filter_count = filter_count_at_start = 0;
    mapi::engine::DeviceSettings settings;
    settings.name = "fake";
    const auto device = std::make_shared<Device>(1, settings, driver, true);
    Flow flow(device);
    flow.apply(mapi_fn_bpf_filter, {{'s', 0, "udp", {}}});
    flow.connect();
    CHECK(filter_count_at_start > 0);

    const auto counting = std::make_shared<Flow>(device);
    counting->apply(mapi_fn_pkt_counter, {});
    counting->connect();
    CHECK(filter_count == 0);
}

TEST_CASE("a filter that flows share runs once per batch, also after different counters",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    ParityFlow first(device, 1), same(device, 1), bare(device, 1, false), other(device, 0);
    runs = 0;

    FakeSource::instance().give(63);

    CHECK(runs == 2);
    CHECK(value(*first.flow, first.all) == 63);
    CHECK(value(*first.flow, first.passed) == 31);
    CHECK(value(*same.flow, same.passed) == 31);
    CHECK(value(*bare.flow, bare.passed) == 31);
    CHECK(value(*other.flow, other.passed) == 32);
    mapi_function_info_t info = {};
    first.flow->describe(first.parity, &info);
    CHECK(info.shared_with == 2);
    CHECK(info.pkts == 63);
    CHECK(info.passed_pkts == 31);
    for (auto *flow : {&first, &same, &bare, &other})
        flow->flow->close();
}

TEST_CASE("the same filter after another filter is not shared", "[mapi-core][engine]")
{
    const auto device = make_device();
    auto flow = std::make_shared<Flow>(device);
    flow->apply(kParity, {number(0)});
    flow->apply(kParity, {number(1)});
    const int none = flow->apply(mapi_fn_pkt_counter, {});
    flow->connect();
    ParityFlow odd(device, 1);

    FakeSource::instance().give(10);

    CHECK(value(*flow, none) == 0);
    CHECK(value(*odd.flow, odd.passed) == 5);
    flow->close();
    odd.flow->close();
}

TEST_CASE("a flow that shares a counter later starts at zero", "[mapi-core][engine]")
{
    const auto device = make_device();
    ParityFlow early(device, 1);
    FakeSource::instance().give(40);
    ParityFlow late(device, 1);
    CHECK(value(*late.flow, late.all) == 0);
    FakeSource::instance().give(10);

    CHECK(value(*early.flow, early.all) == 50);
    CHECK(value(*late.flow, late.all) == 10);
    CHECK(value(*late.flow, late.passed) == 5);
    early.flow->close();
    FakeSource::instance().give(2);
    CHECK(value(*late.flow, late.all) == 12);
    late.flow->close();
}

TEST_CASE("a closed flow is removed immediately, without a further packet", "[mapi-core][engine]")
{
    const auto device = make_device();
    auto stays = std::make_unique<ParityFlow>(device, 0);
    auto goes = std::make_unique<ParityFlow>(device, 1);
    FakeSource::instance().give(4);
    FakeSource::instance().wait_until_idle();
    REQUIRE(alive == 2);
    goes->flow->close();
    goes.reset();
    CHECK(alive == 1);
    runs = 0;
    FakeSource::instance().give(4);
    CHECK(runs == 1);
    stays->flow->close();
}

TEST_CASE("packets without a flow are counted as such", "[mapi-core][engine]")
{
    const auto device = make_device();
    device->start();
    FakeSource::instance().give(5);
    mapi_stat_t stats;
    device->copy_stats(&stats);
    CHECK(stats.ps_recv == 5);
    CHECK(stats.drop_no_flow == 5);
    CHECK(stats.ps_drop == 5);
    CHECK(stats.bytes_recv == 500);
}

TEST_CASE("a live source drops what the buffer cannot hold, and the count outlives the flow",
          "[mapi-core][engine]")
{
    const auto device = make_device(0);
    auto flow = std::make_shared<Flow>(device);
    const int buffer = flow->apply(mapi_fn_to_buffer, {number(0)});
    flow->connect();
    const uint64_t batches = (4u << 20) / 24 / 64 + 10; // more than 4 MiB in records of 24 bytes
    for (uint64_t i = 0; i < batches; ++i)
        FakeSource::instance().give(64);
    mapi_stat_t before, after;
    device->copy_stats(&before);
    CHECK(before.drop_buffer_full > 0);
    uint64_t read = 0;
    FakeSource::instance().finish();
    while (flow->next_packet(buffer))
        ++read;
    CHECK(read + before.drop_buffer_full == batches * 64);
    flow->close();
    flow.reset();
    device->copy_stats(&after);
    CHECK(after.drop_buffer_full == before.drop_buffer_full);
}

TEST_CASE("closing a flow releases the packet thread from its full buffer", "[mapi-core][engine]")
{
    const auto device = make_device();
    auto slow = std::make_shared<Flow>(device);
    slow->apply(mapi_fn_to_buffer, {number(0)});
    slow->connect();
    auto counts = std::make_shared<Flow>(device);
    const int counter = counts->apply(mapi_fn_pkt_counter, {});
    counts->connect();
    const uint64_t batches = (4u << 20) / 24 / 64 + 10;
    std::thread giver([&] {
        for (uint64_t i = 0; i < batches; ++i)
            FakeSource::instance().give(64);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const uint64_t stuck_at = value(*counts, counter);
    CHECK(stuck_at < batches * 64);
    slow->close();
    giver.join();
    CHECK(value(*counts, counter) == batches * 64);
    counts->close();
}

TEST_CASE("the end of the source finishes flows; results stay, later flows start finished",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    ParityFlow flow(device, 1);
    FakeSource::instance().give(10);
    CHECK_FALSE(flow.flow->wait_for_end(10));
    FakeSource::instance().finish();
    CHECK(flow.flow->wait_for_end(-1));
    CHECK(value(*flow.flow, flow.passed) == 5);
    ParityFlow late(device, 1);
    CHECK(late.flow->wait_for_end(0));
    CHECK(value(*late.flow, late.passed) == 0);
    mapi_flow_info_t info = {};
    late.flow->describe(&info);
    CHECK(info.status == FLOW_FINISHED);
}
