// SPDX-License-Identifier: MIT
// Functions that generate packets from those they get: functions after them see the new packets,
// functions before them do not.
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"

#include <mapi/functions.h>
#include <mapi/mapi.h>

using mapi::engine::Arguments;
using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;
using test_support::value;

namespace
{
// Returns each packet as often as its argument says, and those of the last batch again when the
// source has ended.
struct Repeater {
    uint64_t times;
    std::vector<mapi_packet> taken, made;
    size_t given = 0;
};

int create(const mapi_function_setup *setup, void **instance)
{
    *instance = new Repeater{uint64_t(setup->arguments[0].number), {}, {}, 0};
    return 0;
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    auto &self = *static_cast<Repeater *>(instance);
    self.taken.clear();
    for (; mask != 0; mask &= mask - 1)
        self.taken.push_back(batch->packets[std::countr_zero(mask)]);
    self.made.clear();
    self.given = 0;
    for (const mapi_packet &packet : self.taken) {
        for (uint64_t i = 0; i < self.times; ++i)
            self.made.push_back(packet);
    }
    return 0;
}

int next_batch(void *instance, mapi_batch *batch)
{
    auto &self = *static_cast<Repeater *>(instance);
    const size_t count = std::min<size_t>(self.made.size() - self.given, MAPI_BATCH_MAX);
    mapi_batch_fill(batch, self.made.data() + self.given, uint32_t(count));
    self.given += count;
    return count > 0;
}

void flush(void *instance)
{
    auto &self = *static_cast<Repeater *>(instance);
    self.made = self.taken;
    self.given = 0;
}

void destroy(void *instance)
{
    delete static_cast<Repeater *>(instance);
}

mapi_function make_table()
{
    mapi_function table = test_support::function_table("REPEAT", "i");
    table.flags = MAPI_FUNCTION_PURE;
    table.create = create;
    table.process = process;
    table.destroy = destroy;
    static const mapi_function_transform transform = {sizeof(transform), next_batch, flush};
    table.transform = &transform;
    return table;
}

const mapi_function kRepeat = make_table();

Arguments times(int64_t n)
{
    return {{'i', n, "", {}}};
}

// Adds twice this one.
Arguments sum_of(Flow &flow, int fid)
{
    Arguments arguments = {{'i', BINOP_ADD, "", {}}};
    for (int i = 0; i < 2; ++i) {
        arguments.push_back({'r', 0, "", {}});
        arguments.push_back({'f', fid, "", {flow.target(fid)}});
    }
    return arguments;
}
} // namespace

TEST_CASE("functions after one that generates packets see these, in batches of at most 64",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int before = flow->apply(mapi_fn_pkt_counter, {});
    const int repeat = flow->apply(kRepeat, times(5));
    const int packets = flow->apply(mapi_fn_pkt_counter, {});
    const int bytes = flow->apply(mapi_fn_byte_counter, {});
    flow->connect();
    FakeSource::instance().give(40);
    CHECK(value(*flow, before) == 40);
    CHECK(value(*flow, packets) == 200);
    CHECK(value(*flow, bytes) == 200 * 100);
    mapi_function_info_t info = {};
    flow->describe(repeat, &info);
    CHECK(info.pkts == 40);
    CHECK(info.passed_pkts == 200);
    flow->close();
}

TEST_CASE("flows share a packet-generating function and its successors, others see the originals",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto first = std::make_shared<Flow>(device), second = std::make_shared<Flow>(device),
               plain = std::make_shared<Flow>(device);
    first->apply(kRepeat, times(3));
    const int of_first = first->apply(mapi_fn_pkt_counter, {});
    second->apply(kRepeat, times(3));
    second->apply(kRepeat, times(2));
    const int of_second = second->apply(mapi_fn_pkt_counter, {});
    const int of_plain = plain->apply(mapi_fn_pkt_counter, {});
    first->connect();
    plain->connect();
    FakeSource::instance().give(10);
    second->connect();
    FakeSource::instance().give(1);
    CHECK(value(*first, of_first) == 33);
    CHECK(value(*second, of_second) == 6);
    CHECK(value(*plain, of_plain) == 11);
    first->close();
    FakeSource::instance().give(1);
    CHECK(value(*second, of_second) == 12);
    second->close();
    plain->close();
}

TEST_CASE("packets held back come out when the source ends, through all following functions",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    flow->apply(kRepeat, times(2));
    flow->apply(kRepeat, times(3));
    const int packets = flow->apply(mapi_fn_pkt_counter, {});
    flow->connect();
    FakeSource::instance().give(10);
    CHECK(value(*flow, packets) == 60);
    FakeSource::instance().finish();
    REQUIRE(flow->wait_for_end(10000));
    // The first returns its 10 again, the second three of each and its last batch again.
    CHECK(value(*flow, packets) == 60 + 30 + 10);
    flow->close();
}

TEST_CASE("a result of the original packets is right for each packet generated from them",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int packets = flow->apply(mapi_fn_pkt_counter, {});
    flow->apply(kRepeat, times(2));
    const int stats = flow->apply(
        mapi_fn_stats,
        {{'r', 0, "", {}}, {'f', packets, "", {flow->target(packets)}}, {'s', 0, "0", {}}});
    flow->connect();
    FakeSource::instance().give(50);
    const auto seen = *static_cast<mapi_value_stats_t *>(flow->read_results(stats)->res);
    CHECK(seen.count == 100);
    CHECK(seen.sum == 2 * (50 * 51 / 2));
    CHECK(seen.min == 1);
    CHECK(seen.max == 50);
    flow->close();
}

TEST_CASE("a sum after a function that generates no packets is still up to date",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int packets = flow->apply(mapi_fn_pkt_counter, {});
    flow->apply(kRepeat, times(0));
    const int sum = flow->apply(mapi_fn_binop, sum_of(*flow, packets));
    flow->connect();
    FakeSource::instance().give(50);
    FakeSource::instance().give(3);
    CHECK(value(*flow, sum) == 2 * 53);
    flow->close();
}

TEST_CASE("results of results are up to date after packet-generating functions, in any flow order",
          "[mapi-core][engine]")
{
    std::array<int, 3> order = {0, 1, 2};
    do {
        const auto device = make_device();
        const std::array<std::shared_ptr<Flow>, 3> flows = {std::make_shared<Flow>(device),
                                                            std::make_shared<Flow>(device),
                                                            std::make_shared<Flow>(device)};
        const int count = flows[0]->apply(mapi_fn_pkt_counter, {});
        flows[1]->apply(kRepeat, times(1));
        const int sum = flows[1]->apply(mapi_fn_binop, sum_of(*flows[0], count));
        const int seen = flows[2]->apply(
            mapi_fn_stats,
            {{'r', 0, "", {}}, {'f', sum, "", {flows[1]->target(sum)}}, {'s', 0, "0", {}}});
        for (const int i : order)
            flows[size_t(i)]->connect();
        FakeSource::instance().give(5);
        FakeSource::instance().give(5);
        CHECK(value(*flows[1], sum) == 20);
        const auto stats = *static_cast<mapi_value_stats_t *>(flows[2]->read_results(seen)->res);
        CHECK(stats.count == 10);
        CHECK(stats.sum == 2 * (10 * 11 / 2));
        CHECK(stats.max == 20);
        for (const auto &flow : flows)
            flow->close();
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a flow accepts a limited number of functions that generate packets",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    for (int i = 0; i < 16; ++i)
        flow->apply(kRepeat, times(1));
    CHECK_THROWS_AS(flow->apply(kRepeat, times(1)), mapi::Error);
    const int packets = flow->apply(mapi_fn_pkt_counter, {});
    flow->connect();
    FakeSource::instance().give(64);
    CHECK(value(*flow, packets) == 64);
    flow->close();
}
