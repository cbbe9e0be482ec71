// SPDX-License-Identifier: MIT
// Node groups: many functions with the same input run in one pass, with the results that each has
// by itself, while flows are added and removed.
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <thread>

#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"
#include "mapi/functions.h"
#include "mapi/mapi.h"

using mapi::engine::Argument;
using mapi::engine::Device;
using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;
using test_support::value;

namespace
{
// EQUALS n: passes packets whose byte is n.  The fake source's bytes are 0 and 1.
std::atomic<int> runs, group_runs, alive, groups_alive;
std::atomic<bool> refuses_groups;

struct EqualsGroup {
    std::vector<int64_t *> numbers;
};

uint64_t equal(const mapi_batch *batch, uint64_t mask, int64_t number)
{
    uint64_t passed = 0;
    for (uint32_t i = 0; i < batch->count; ++i)
        passed |= uint64_t(batch->packets[i].data[0] == number) << i;
    return passed & mask;
}

mapi_function make_equals()
{
    mapi_function table = test_support::function_table("EQUALS", "i");
    table.flags = MAPI_FUNCTION_PURE;
    table.create = [](const mapi_function_setup *setup, void **instance) {
        ++alive;
        *instance = new int64_t(setup->arguments[0].number);
        return 0;
    };
    table.process = [](void *instance, const mapi_batch *batch, uint64_t mask) {
        ++runs;
        return equal(batch, mask, *static_cast<int64_t *>(instance));
    };
    table.destroy = [](void *instance) {
        --alive;
        delete static_cast<int64_t *>(instance);
    };
    static mapi_function_group group = {};
    group.struct_size = sizeof(group);
    table.group = &group;
    group.create = [](void *const *instances, uint32_t count, void **group) {
        if (refuses_groups)
            return 1;
        auto made = std::make_unique<EqualsGroup>();
        for (uint32_t i = 0; i < count; ++i)
            made->numbers.push_back(static_cast<int64_t *>(instances[i]));
        ++groups_alive;
        *group = made.release();
        return 0;
    };
    group.process = [](void *group, const mapi_batch *batch, uint64_t mask,
                       mapi_group_passed *passed) {
        ++group_runs;
        uint32_t count = 0;
        const auto &numbers = static_cast<EqualsGroup *>(group)->numbers;
        for (uint32_t i = 0; i < numbers.size(); ++i) {
            if (const uint64_t mine = equal(batch, mask, *numbers[i]))
                passed[count++] = {mine, i};
        }
        return count;
    };
    group.destroy = [](void *group) {
        --groups_alive;
        delete static_cast<EqualsGroup *>(group);
    };
    return table;
}

const mapi_function kEquals = make_equals();

struct EqualsFlow {
    std::shared_ptr<Flow> flow;
    int equals, packets, bytes;

    EqualsFlow(const std::shared_ptr<Device> &device, int64_t n)
        : flow(std::make_shared<Flow>(device))
    {
        equals = flow->apply(kEquals, {Argument{'i', n, "", {}}});
        packets = flow->apply(mapi_fn_pkt_counter, {});
        bytes = flow->apply(mapi_fn_byte_counter, {});
        flow->connect();
    }
    mapi_function_info_t info() const
    {
        mapi_function_info_t info = {};
        flow->describe(equals, &info);
        return info;
    }
};

// A node group is built in a separate thread; gives packets until it runs. Returns how many were
// given.
uint64_t give_until(const std::function<bool()> &is_done)
{
    uint64_t given = 0;
    runs = group_runs = 0;
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
         !is_done();) {
        REQUIRE(std::chrono::steady_clock::now() < end);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        FakeSource::instance().give(64);
        given += 64;
    }
    return given;
}

// ... and this many functions outside it.
uint64_t give_until_group_runs(int beside = 0)
{
    return give_until([beside] {
        const bool is_so = group_runs == 1 && runs == beside;
        runs = group_runs = 0;
        return is_so;
    });
}
} // namespace

TEST_CASE("many functions with one input run once per batch, with the results of separate runs",
          "[mapi-core][engine]")
{
    refuses_groups = false;
    {
        const auto device = make_device();
        std::deque<EqualsFlow> flows;
        for (int64_t n = 0; n < 20; ++n)
            flows.emplace_back(device, n);
        uint64_t given = give_until_group_runs();
        runs = group_runs = 0;
        FakeSource::instance().give(10);
        given += 10;

        CHECK(group_runs == 1);
        CHECK(runs == 0);
        for (int64_t n = 0; n < 20; ++n) {
            const uint64_t expected = n < 2 ? given / 2 : 0;
            INFO(n);
            CHECK(value(*flows[size_t(n)].flow, flows[size_t(n)].packets) == expected);
            CHECK(value(*flows[size_t(n)].flow, flows[size_t(n)].bytes) == expected * 100);
            CHECK(flows[size_t(n)].info().pkts == given);
            CHECK(flows[size_t(n)].info().passed_pkts == expected);
        }
        for (EqualsFlow &flow : flows)
            flow.flow->close();
    }
    CHECK(alive == 0);
    CHECK(groups_alive == 0);
}

TEST_CASE("flows that enter or leave a node group have their own packets, and others lose none",
          "[mapi-core][engine]")
{
    refuses_groups = false;
    const auto device = make_device();
    std::deque<EqualsFlow> flows;
    for (int64_t n = 0; n < 16; ++n)
        flows.emplace_back(device, n);
    uint64_t given = give_until_group_runs();
    EqualsFlow late_same(device, 1), late_other(device, 77);
    FakeSource::instance().give(2);
    CHECK(value(*late_same.flow, late_same.packets) == 1);
    CHECK(value(*late_other.flow, late_other.packets) == 0);
    CHECK(late_same.info().pkts == 2);
    CHECK(late_other.info().pkts == 2);
    flows[1].flow->close();
    flows[2].flow->close();
    FakeSource::instance().give(2);
    CHECK(value(*late_same.flow, late_same.packets) == 2);
    CHECK(value(*flows[0].flow, flows[0].packets) == given / 2 + 2);
    late_same.flow->close();
    // Seven are too few for a node group: its instances are freed with it.
    for (size_t n = 7; n < flows.size(); ++n)
        flows[n].flow->close();
    late_other.flow->close();
    late_same.flow = late_other.flow = nullptr;
    for (const size_t n : {1, 2})
        flows[n].flow = nullptr;
    flows.erase(flows.begin() + 7, flows.end());
    runs = group_runs = 0;
    FakeSource::instance().give(2);
    CHECK(group_runs == 0);
    CHECK(runs == 5);
    CHECK(alive == 5);
    CHECK(value(*flows[0].flow, flows[0].packets) == given / 2 + 3);
    for (const size_t n : {0, 3, 4, 5, 6})
        flows[n].flow->close();
}

TEST_CASE("functions that refer to others, or are referred to, are in no node group",
          "[mapi-core][engine]")
{
    refuses_groups = false;
    const auto device = make_device();
    std::deque<EqualsFlow> flows;
    for (int64_t n = 0; n < 12; ++n)
        flows.emplace_back(device, n);
    uint64_t given = give_until_group_runs();
    const auto referring = std::make_shared<Flow>(device);
    referring->apply(kEquals, {Argument{'i', 1, "", {}}});
    const int packets = referring->apply(mapi_fn_pkt_counter, {});
    const Argument flow{'r', 0, "", {}}, counter{'f', packets, "", {referring->target(packets)}};
    const int twice = referring->apply(
        mapi_fn_binop, {Argument{'i', BINOP_ADD, "", {}}, flow, counter, flow, counter});
    referring->connect();
    FakeSource::instance().give(10);
    given += 10;
    given += give_until_group_runs(1);

    CHECK(value(*referring, packets) > 0);
    CHECK(value(*referring, twice) == 2 * value(*referring, packets));
    CHECK(value(*flows[1].flow, flows[1].packets) == given / 2);
    referring->close();
    for (EqualsFlow &flow : flows)
        flow.flow->close();
}

TEST_CASE("a function that refuses a node group is asked once and runs one by one",
          "[mapi-core][engine]")
{
    refuses_groups = true;
    const auto device = make_device();
    std::deque<EqualsFlow> flows;
    for (int64_t n = 0; n < 10; ++n)
        flows.emplace_back(device, n);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    runs = group_runs = 0;
    FakeSource::instance().give(4);
    CHECK(runs == 10);
    CHECK(group_runs == 0);
    CHECK(value(*flows[1].flow, flows[1].packets) == 2);
    for (EqualsFlow &flow : flows)
        flow.flow->close();
}
