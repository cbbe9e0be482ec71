// SPDX-License-Identifier: MIT
// Lifetime of functions and plans: no longer than they are needed, whatever clients do in the
// meantime.
#include "support/catch.hpp"

#include <atomic>
#include <thread>

#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"
#include "support/heap_bytes.hpp"

#include <mapi/functions.h>
#include <mapi/mapi.h>

using mapi::engine::Arguments;
using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;
using test_support::value;

namespace
{
std::atomic<int> living;

mapi_function table(const char *name)
{
    mapi_function table = test_support::function_table(name);
    table.flags = MAPI_FUNCTION_PASSES_ALL;
    table.result_bytes = sizeof(uint64_t);
    table.create = [](const mapi_function_setup *setup, void **instance) {
        ++living;
        *instance = setup->result;
        return 0;
    };
    table.process = [](void *instance, const mapi_batch *batch, uint64_t mask) {
        *static_cast<uint64_t *>(instance) += batch->count;
        return mask;
    };
    table.destroy = [](void *) { --living; };
    return table;
}

const mapi_function kCount = table("COUNT");
} // namespace

TEST_CASE("a function that refers to another keeps its result, and not all that it holds",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    auto referred = std::make_shared<Flow>(device);
    const auto reader = std::make_shared<Flow>(device);
    const int count = referred->apply(kCount, {});
    Arguments sum = {{'i', BINOP_ADD, "", {}}};
    for (int i = 0; i < 2; ++i) {
        sum.push_back({'r', 0, "", {}});
        sum.push_back({'f', count, "", {referred->target(count)}});
    }
    const int twice = reader->apply(mapi_fn_binop, sum);
    referred->connect();
    reader->connect();
    FakeSource::instance().give(5);
    CHECK(value(*reader, twice) == 10);
    CHECK(living == 1);
    referred->close();
    referred = nullptr;
    FakeSource::instance().give(5);
    mapi_stat_t stats;
    device->copy_stats(&stats); // frees what plans held
    CHECK(living == 0);
    FakeSource::instance().give(5);
    CHECK(value(*reader, twice) == 10); // its final value
    reader->close();
}

#ifdef HEAP_BYTES_ARE_REPORTED
namespace
{
std::atomic<bool> is_held_up, may_go_on;

const mapi_function kHoldUp = [] {
    mapi_function hold_up = table("HOLD_UP");
    hold_up.process = [](void *, const mapi_batch *, uint64_t mask) {
        is_held_up = true;
        while (!may_go_on)
            std::this_thread::yield();
        return mask;
    };
    return hold_up;
}();

// What this many flows, connected one after the other, add to the heap.
uint64_t growth(const std::shared_ptr<mapi::engine::Device> &device,
                std::vector<std::shared_ptr<Flow>> &flows, int count)
{
    const uint64_t before = heap_bytes();
    for (int i = 0; i < count; ++i) {
        flows.push_back(std::make_shared<Flow>(device));
        flows.back()->apply(mapi_fn_pkt_counter, {});
        flows.back()->apply(mapi_fn_gap, {{0, 0, "", {}}});
        flows.back()->connect();
    }
    return heap_bytes() - before;
}
} // namespace

TEST_CASE("plans do not accumulate behind one that blocks the device's thread",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto first = std::make_shared<Flow>(device);
    first->apply(kHoldUp, {});
    first->connect();
    is_held_up = may_go_on = false;
    std::thread packets([] { FakeSource::instance().give(1); });
    while (!is_held_up)
        std::this_thread::yield();
    std::vector<std::shared_ptr<Flow>> flows;
    growth(device, flows, 50);
    const uint64_t hundred = growth(device, flows, 100), next_hundred = growth(device, flows, 100);
    may_go_on = true;
    packets.join();
    CHECK(value(*flows.back(), 1) == 0);
    FakeSource::instance().give(3);
    CHECK(value(*flows.back(), 1) == 3);
    Flow::close(flows);
    first->close();
    CHECK(next_hundred < hundred + hundred / 2); // and does not grow quadratically
}
#endif
