// SPDX-License-Identifier: MIT
// Functions that are reset or removed while packets arrive: the rest of the flow, and other flows,
// are not affected.
#include "support/catch.hpp"

#include <mapi/functions.h>
#include <mapi/mapi.h>

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"

using mapi::engine::Argument;
using mapi::engine::Arguments;
using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;
using test_support::value;

namespace
{
Argument number(int64_t n)
{
    return {'i', n, "", {}};
}

Arguments stats_of(Flow &flow, int fid)
{
    return {{'r', 0, "", {}}, {'f', fid, "", {flow.target(fid)}}, {'s', 0, "0", {}}};
}

mapi_value_stats_t stats(Flow &flow, int fid)
{
    return *static_cast<mapi_value_stats_t *>(flow.read_results(fid)->res);
}

mapi_function_info_t info(Flow &flow, int fid)
{
    mapi_function_info_t info = {};
    flow.describe(fid, &info);
    return info;
}

template <class Call> int error_of(Call call)
{
    try {
        call();
        return 0;
    } catch (const mapi::Error &error) {
        return error.number();
    }
}
} // namespace

TEST_CASE("a count starts again at a reset, and another flow's share of it continues",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto one = std::make_shared<Flow>(device), other = std::make_shared<Flow>(device);
    const int count = one->apply(mapi_fn_pkt_counter, {}),
              same = other->apply(mapi_fn_pkt_counter, {});
    CHECK(error_of([&] { one->reset(count); }) == MAPI_FLOW_NOT_CONNECTED);
    one->connect();
    other->connect();
    FakeSource::instance().give(40);
    one->reset(count);
    FakeSource::instance().give(2);
    CHECK(value(*one, count) == 2);
    CHECK(info(*one, count).pkts == 2);
    CHECK(value(*other, same) == 42);
    one->close();
    other->close();
}

TEST_CASE("statistics and a sample's period start again at a reset", "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int count = flow->apply(mapi_fn_pkt_counter, {});
    const int values = flow->apply(mapi_fn_stats, stats_of(*flow, count));
    const int sample = flow->apply(mapi_fn_sample, {number(4), number(PERIODIC)});
    const int sampled = flow->apply(mapi_fn_pkt_counter, {});
    flow->connect();
    FakeSource::instance().give(3);
    flow->reset(values);
    flow->reset(sample);
    FakeSource::instance().give(3);
    CHECK(value(*flow, sampled) == 0);
    CHECK(stats(*flow, values).count == 3);
    CHECK(stats(*flow, values).sum == 4 + 5 + 6);
    FakeSource::instance().give(1);
    CHECK(value(*flow, sampled) == 1);
    flow->close();
}

TEST_CASE("a function that refers to a count is not affected when its flow resets it",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int count = flow->apply(mapi_fn_pkt_counter, {});
    const int values = flow->apply(mapi_fn_stats, stats_of(*flow, count));
    flow->connect();
    FakeSource::instance().give(5);
    flow->reset(count);
    FakeSource::instance().give(5);
    CHECK(value(*flow, count) == 5);
    CHECK(stats(*flow, values).max == 10);
    flow->close();
}

TEST_CASE("a reset after the end of the packets takes effect immediately", "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int count = flow->apply(mapi_fn_pkt_counter, {});
    flow->connect();
    FakeSource::instance().give(7);
    FakeSource::instance().finish();
    REQUIRE(flow->wait_for_end(10000));
    CHECK(value(*flow, count) == 7);
    flow->reset(count);
    CHECK(value(*flow, count) == 0);
    flow->close();
}

TEST_CASE("a function that cannot be reset says so", "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int buffer = flow->apply(mapi_fn_to_buffer, {number(1)});
    flow->connect();
    CHECK(error_of([&] { flow->reset(buffer); }) == MAPI_INVALID_FID_FUNCID);
    CHECK(error_of([&] { flow->reset(buffer + 1); }) == MAPI_INVALID_FID_FUNCID);
    flow->close();
}

TEST_CASE("a removed function gets no packets, its number is unused, and the others continue",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device), other = std::make_shared<Flow>(device);
    const int bytes = flow->apply(mapi_fn_byte_counter, {}),
              packets = flow->apply(mapi_fn_pkt_counter, {});
    const int buffer = flow->apply(mapi_fn_to_buffer, {number(1)}),
              same = other->apply(mapi_fn_byte_counter, {});
    flow->connect();
    other->connect();
    FakeSource::instance().give(4);
    flow->remove(bytes);
    flow->remove(buffer);
    FakeSource::instance().give(4);
    CHECK(error_of([&] { flow->read_results(bytes); }) == MAPI_INVALID_FID_FUNCID);
    CHECK(error_of([&] { flow->next_packet(buffer); }) == MAPI_INVALID_FID_FUNCID);
    CHECK(error_of([&] { flow->remove(bytes); }) == MAPI_INVALID_FID_FUNCID);
    CHECK(value(*flow, packets) == 8);
    CHECK(value(*other, same) == 800);
    CHECK(flow->next_function(0) == packets);
    CHECK(flow->next_function(packets) == 0);
    mapi_flow_info_t about = {};
    flow->describe(&about);
    CHECK(about.num_functions == 1);
    flow->close();
    other->close();
}

TEST_CASE("a filter can be removed before its flow is connected, later only if nothing follows it",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int early = flow->apply(mapi_fn_sample, {number(2), number(PERIODIC)});
    const int filter = flow->apply(mapi_fn_sample, {number(5), number(PERIODIC)});
    const int count = flow->apply(mapi_fn_pkt_counter, {});
    const int last = flow->apply(mapi_fn_sample, {number(9), number(PERIODIC)});
    flow->remove(early);
    flow->connect();
    FakeSource::instance().give(20);
    CHECK(value(*flow, count) == 4);
    CHECK(error_of([&] { flow->remove(filter); }) == MAPI_FUNCTION_IN_USE);
    flow->remove(last);
    flow->remove(count);
    flow->remove(filter);
    FakeSource::instance().give(20);
    flow->close();
}

TEST_CASE("a function stays as long as another one of its flow uses its result",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device), reader = std::make_shared<Flow>(device);
    const int count = flow->apply(mapi_fn_pkt_counter, {});
    const int values = flow->apply(mapi_fn_stats, stats_of(*flow, count));
    const int from_elsewhere = reader->apply(mapi_fn_stats, stats_of(*flow, count));
    CHECK(error_of([&] { flow->remove(count); }) == MAPI_FUNCTION_IN_USE);
    flow->connect();
    reader->connect();
    FakeSource::instance().give(3);
    CHECK(error_of([&] { flow->remove(count); }) == MAPI_FUNCTION_IN_USE);
    flow->remove(values);
    flow->remove(count);
    FakeSource::instance().give(3);
    CHECK(stats(*reader, from_elsewhere).count == 6);
    CHECK(stats(*reader, from_elsewhere).max == 3); // its last value
    CHECK(error_of([&] { reader->apply(mapi_fn_stats, stats_of(*flow, count)); }) ==
          MAPI_INVALID_FID_FUNCID);
    flow->close();
    reader->close();
}
