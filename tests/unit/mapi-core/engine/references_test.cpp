// SPDX-License-Identifier: MIT
// Functions that use another function's result: packet by packet, across flows, whichever flows are
// added or removed.
#include "support/catch.hpp"

#include <chrono>

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"

#include <mapi/functions.h>
#include <mapi/mapi.h>

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

Arguments of(Flow &flow, int fid)
{
    return {{'r', 0, "", {}}, {'f', fid, "", {flow.target(fid)}}};
}

Arguments stats_of(Flow &flow, int fid, const std::string &interval)
{
    Arguments arguments = of(flow, fid);
    arguments.push_back({'s', 0, interval, {}});
    return arguments;
}

Arguments binop_of(int64_t operation, Flow &left, int left_fid, Flow &right, int right_fid)
{
    Arguments arguments = {number(operation)};
    for (const Argument &argument : of(left, left_fid))
        arguments.push_back(argument);
    for (const Argument &argument : of(right, right_fid))
        arguments.push_back(argument);
    return arguments;
}

mapi_value_stats_t stats(Flow &flow, int fid)
{
    return *static_cast<mapi_value_stats_t *>(flow.read_results(fid)->res);
}
} // namespace

TEST_CASE("statistics of a counter use its value after each packet, not after each batch",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int packets = flow->apply(mapi_fn_pkt_counter, {});
    const int bytes = flow->apply(mapi_fn_byte_counter, {});
    const int of_packets = flow->apply(mapi_fn_stats, stats_of(*flow, packets, "0"));
    const int of_bytes = flow->apply(mapi_fn_stats, stats_of(*flow, bytes, "10"));
    flow->connect();
    FakeSource::instance().give(40);
    FakeSource::instance().give(60);
    const auto counted = stats(*flow, of_packets);
    CHECK(counted.count == 100);
    CHECK(counted.sum == 100 * 101 / 2);
    CHECK(counted.sum2 == 100 * 101 * 201 / 6);
    CHECK(counted.min == 1);
    CHECK(counted.max == 100);
    const auto tenths = stats(*flow, of_bytes);
    CHECK(tenths.count == 10);
    CHECK(tenths.min == 10 * 100);
    CHECK(tenths.sum == (10 + 100) / 2 * 10 * 100);
    flow->close();
}

TEST_CASE("a reference to another flow's result has that flow's count, even if it is shared",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto old = std::make_shared<Flow>(device), young = std::make_shared<Flow>(device),
               reader = std::make_shared<Flow>(device);
    const int old_count = old->apply(mapi_fn_pkt_counter, {});
    const int young_count = young->apply(mapi_fn_pkt_counter, {});
    const int sum =
        reader->apply(mapi_fn_binop, binop_of(BINOP_ADD, *old, old_count, *young, young_count));
    const int difference =
        reader->apply(mapi_fn_binop, binop_of(BINOP_SUB, *young, young_count, *old, old_count));
    const int seen = reader->apply(mapi_fn_stats, stats_of(*reader, sum, "0"));
    reader->connect();
    old->connect();
    FakeSource::instance().give(7);
    CHECK(value(*reader, sum) == 7);
    young->connect();
    FakeSource::instance().give(10);
    CHECK(value(*reader, sum) == 17 + 10);
    CHECK(value(*reader, difference) == uint64_t(0) - 7);
    CHECK(stats(*reader, seen).count == 17);
    CHECK(stats(*reader, seen).max == 27);
    old->close();
    for (int i = 0; i < 3; ++i)
        FakeSource::instance().give(1);
    CHECK(value(*reader, sum) ==
          17 + 13); // a closed flow keeps its last value, though others continue with its counter
    CHECK(value(*reader, difference) == uint64_t(0) - 4);
    reader->close();
    young->close();
}

TEST_CASE("a sum is up to date even if it gets no packets itself", "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device), reader = std::make_shared<Flow>(device);
    const int packets = flow->apply(mapi_fn_pkt_counter, {});
    const int bytes = flow->apply(mapi_fn_byte_counter, {});
    reader->apply(mapi_fn_sample, {number(1000), number(PERIODIC)});
    const int sum = reader->apply(mapi_fn_binop, binop_of(BINOP_ADD, *flow, packets, *flow, bytes));
    flow->connect();
    reader->connect();
    FakeSource::instance().give(5);
    CHECK(value(*reader, sum) == 505);
    flow->close();
    reader->close();
}

TEST_CASE("neither a function without a result nor a missing one can be an argument",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int sample = flow->apply(mapi_fn_sample, {number(2), number(PERIODIC)});
    CHECK_THROWS_AS(flow->target(sample), mapi::Error);
    CHECK_THROWS_AS(flow->target(2), mapi::Error);
    CHECK_THROWS_AS(flow->target(0), mapi::Error);
}

TEST_CASE("a flow of thousands of functions, each after the previous one, connects immediately",
          "[mapi-core][engine]")
{
    constexpr int kFunctions = 16384;
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int packets = flow->apply(mapi_fn_pkt_counter, {});
    int last = packets;
    while (last < kFunctions)
        last = flow->apply(mapi_fn_binop, binop_of(BINOP_ADD, *flow, last, *flow, packets));
    const auto begin = std::chrono::steady_clock::now();
    flow->connect();
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
    FakeSource::instance().give(3);
    CHECK(value(*flow, last) == 3 * kFunctions);
    flow->close();
}
