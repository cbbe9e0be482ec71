// SPDX-License-Identifier: MIT
// Flows at the end of their source, and flows that are closed before they start.
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"

#include <mapi/mapi.h>

using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;
using test_support::value;

namespace
{
std::atomic<bool> is_ending, was_reset_meanwhile;
std::atomic<int> resets;

// Is slow at the end.
mapi_function make_slow()
{
    mapi_function table = test_support::function_table("SLOW");
    table.flags = MAPI_FUNCTION_PASSES_ALL;
    table.create = [](const mapi_function_setup *, void **instance) {
        static int any;
        *instance = &any;
        return 0;
    };
    table.process = [](void *, const mapi_batch *, uint64_t mask) { return mask; };
    static mapi_function_ending ending = {};
    ending.struct_size = sizeof(ending);
    table.ending = &ending;
    ending.end = [](void *) {
        is_ending = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        is_ending = false;
    };
    table.reset = [](void *) {
        ++resets;
        was_reset_meanwhile = was_reset_meanwhile || is_ending;
    };
    table.destroy = [](void *) {};
    return table;
}

const mapi_function kSlow = make_slow();

template <class Call> int error_of(Call call)
{
    try {
        call();
        return 0;
    } catch (const mapi::Error &error) {
        return error.number();
    }
}

void wait_for_slow_end()
{
    while (!is_ending)
        std::this_thread::yield();
}
} // namespace

TEST_CASE("a function is not reset while the end of the source ends it, but afterwards",
          "[mapi-core][engine]")
{
    is_ending = was_reset_meanwhile = false;
    resets = 0;
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int slow = flow->apply(kSlow, {});
    flow->connect();
    FakeSource::instance().finish();
    wait_for_slow_end();
    flow->reset(slow);
    CHECK_FALSE(was_reset_meanwhile);
    CHECK(resets == 1);
    CHECK(flow->wait_for_end(10000));
    flow->reset(slow);
    CHECK(resets == 2);
    flow->close();
}

TEST_CASE("a flow that is connected while the end of the source ends others also ends",
          "[mapi-core][engine]")
{
    is_ending = false;
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device), late = std::make_shared<Flow>(device);
    flow->apply(kSlow, {});
    const int count = late->apply(mapi_fn_pkt_counter, {});
    flow->connect();
    FakeSource::instance().finish();
    wait_for_slow_end();
    late->connect();
    CHECK(late->wait_for_end(10000));
    CHECK(value(*late, count) == 0);
    flow->close();
    late->close();
}

TEST_CASE("a flow that is closed while the end of the source ends it is ended once",
          "[mapi-core][engine]")
{
    is_ending = false;
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    flow->apply(kSlow, {});
    flow->connect();
    FakeSource::instance().finish();
    wait_for_slow_end();
    flow->close();
    CHECK_FALSE(is_ending);
}

TEST_CASE("a flow closed before it started can no longer be connected, and has no results",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device), other = std::make_shared<Flow>(device);
    const int count = flow->apply(mapi_fn_pkt_counter, {});
    const int other_count = other->apply(mapi_fn_pkt_counter, {});
    flow->close();
    CHECK(error_of([&] { flow->connect(); }) == MAPI_INVALID_FLOW);
    CHECK(error_of([&] { flow->read_results(count); }) == MAPI_FLOW_NOT_CONNECTED);
    CHECK(error_of([&] { flow->apply(mapi_fn_pkt_counter, {}); }) != 0);
    other->connect();
    FakeSource::instance().give(3);
    mapi_function_info_t info = {};
    other->describe(other_count, &info);
    CHECK(info.shared_with == 0);
    CHECK(value(*other, other_count) == 3);
    flow->close();
    other->close();
}

TEST_CASE("a function without memory ends its device with an error; flows keep their results",
          "[mapi-core][engine]")
{
    mapi_function table = test_support::function_table("GREEDY");
    table.create = [](const mapi_function_setup *, void **) { return 0; };
    table.process = [](void *, const mapi_batch *batch, uint64_t mask) -> uint64_t {
        if (batch->count > 3)
            throw std::bad_alloc();
        return mask;
    };
    table.destroy = [](void *) {};
    const auto device = make_device();
    const auto counting = std::make_shared<Flow>(device), greedy = std::make_shared<Flow>(device);
    const int packets = counting->apply(mapi_fn_pkt_counter, {});
    greedy->apply(table, {});
    counting->connect();
    greedy->connect();
    FakeSource::instance().give(3);
    FakeSource::instance().ask(4);
    REQUIRE(counting->wait_for_end(10000));
    REQUIRE(greedy->wait_for_end(10000));
    CHECK(value(*counting, packets) >= 3);
    mapi_stat_t stats = {};
    device->copy_stats(&stats);
    CHECK(std::string(stats.message) ==
          "fake: a function ran out of memory; reading has ended there");
    counting->close();
    greedy->close();
}
