// SPDX-License-Identifier: MIT
// Node groups of functions with different masks: each function has the results of a run by itself,
// whatever ran before it and whichever flows are added or removed.
#include "support/catch.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

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
// CLASS n r: passes packet i of a batch where i modulo n is r; NOT n r: all others.
struct Rule {
    int64_t modulus, rest;
    bool is_negated;

    uint64_t mask() const
    {
        uint64_t mask = 0;
        for (int64_t i = 0; i < 64; ++i)
            mask |= uint64_t((i % modulus == rest) != is_negated) << i;
        return mask;
    }
};

// Of one kind of function.
struct Calls {
    std::atomic<int> alone, grouped, groups;
};

struct RuleGroup : std::vector<const Rule *> {
    uint64_t plan = 0;
    std::map<uint32_t, std::vector<uint32_t>> inputs; // of the plan: instances by number
};

// Packets that each instance passes; also checks that a plan's inputs stay the same.
uint32_t process_inputs(void *group, const mapi_batch *batch, const mapi_group_inputs *inputs,
                        mapi_group_passed *passed)
{
    auto &rules = *static_cast<RuleGroup *>(group);
    if (rules.plan != inputs->plan)
        rules.inputs.clear();
    rules.plan = inputs->plan;
    uint32_t count = 0;
    for (const mapi_group_input &input : std::span(inputs->inputs, inputs->count)) {
        const std::vector<uint32_t> instances(input.instances, input.instances + input.count);
        const auto &known = rules.inputs.try_emplace(input.number, instances).first->second;
        CHECK((known == instances && input.number < inputs->numbers));
        CHECK((input.mask != 0 && (input.mask & ~batch->all) == 0));
        for (const uint32_t instance : instances) {
            if (const uint64_t own = input.mask & rules[instance]->mask())
                passed[count++] = {own, instance};
        }
    }
    return count;
}

template <Calls &calls>
mapi_function make_table(const char *name, uint32_t flags, bool has_group, bool has_inputs = false)
{
    mapi_function table = test_support::function_table(name, "iii");
    table.flags = MAPI_FUNCTION_PURE | flags;
    table.create = [](const mapi_function_setup *setup, void **instance) {
        *instance = new Rule{setup->arguments[0].number, setup->arguments[1].number,
                             setup->arguments[2].number != 0};
        return 0;
    };
    table.process = [](void *instance, const mapi_batch *, uint64_t mask) {
        ++calls.alone;
        return mask & static_cast<const Rule *>(instance)->mask();
    };
    table.destroy = [](void *instance) { delete static_cast<Rule *>(instance); };
    if (!has_group)
        return table;
    static mapi_function_group group = {};
    group.struct_size = sizeof(group);
    table.group = &group;
    group.create = [](void *const *instances, uint32_t count, void **group) {
        auto rules = std::make_unique<RuleGroup>();
        for (uint32_t i = 0; i < count; ++i)
            rules->push_back(static_cast<const Rule *>(instances[i]));
        *group = rules.release();
        ++calls.groups;
        return 0;
    };
    group.process = [](void *group, const mapi_batch *, uint64_t mask, mapi_group_passed *passed) {
        ++calls.grouped;
        const auto &rules = *static_cast<const RuleGroup *>(group);
        uint32_t count = 0;
        for (uint32_t i = 0; i < rules.size(); ++i) {
            if (const uint64_t own = mask & rules[i]->mask())
                passed[count++] = {own, i};
        }
        return count;
    };
    if (has_inputs)
        group.process_inputs = [](void *group, const mapi_batch *batch,
                                  const mapi_group_inputs *inputs, mapi_group_passed *passed) {
            ++calls.grouped;
            return process_inputs(group, batch, inputs, passed);
        };
    group.destroy = [](void *group) {
        --calls.groups;
        delete static_cast<RuleGroup *>(group);
    };
    return table;
}

Calls plain_calls, same_calls, any_calls, other_calls;
const mapi_function kPlain = make_table<plain_calls>("PLAIN", 0, false);
const mapi_function kSame = make_table<same_calls>("SAME", 0, true); // its node group has one mask
const mapi_function kAny = make_table<any_calls>("ANY", MAPI_FUNCTION_GROUP_OF_ANY_MASKS, true);
const mapi_function kOther =
    make_table<other_calls>("OTHER", MAPI_FUNCTION_GROUP_OF_ANY_MASKS, true, true);

void forget_calls()
{
    for (Calls *calls : {&plain_calls, &same_calls, &any_calls, &other_calls})
        calls->alone = calls->grouped = 0;
}

struct RuleFlow {
    std::shared_ptr<Flow> flow;
    uint64_t mask = ~uint64_t(0); // the packets of a batch of 64 that reach the counters
    uint64_t wanted = 0;
    std::vector<int> packets; // counters

    explicit RuleFlow(const std::shared_ptr<Device> &device) : flow(std::make_shared<Flow>(device))
    {
    }
    RuleFlow &then(const mapi_function &function, const Rule &rule)
    {
        flow->apply(function,
                    {Argument{'i', rule.modulus, "", {}}, Argument{'i', rule.rest, "", {}},
                     Argument{'i', rule.is_negated, "", {}}});
        mask &= rule.mask();
        return *this;
    }
    void connect()
    {
        packets.push_back(flow->apply(mapi_fn_pkt_counter, {}));
        packets.push_back(flow->apply(mapi_fn_byte_counter, {}));
        flow->connect();
    }
    void check() const
    {
        CHECK(value(*flow, packets[0]) == wanted);
        CHECK(value(*flow, packets[1]) == wanted * 100);
    }
};

void give(std::deque<RuleFlow> &flows, uint32_t packets)
{
    FakeSource::instance().give(packets);
    for (RuleFlow &flow : flows)
        flow.wanted += uint64_t(std::popcount(flow.mask & (~uint64_t(0) >> (64 - packets))));
}

// Node groups are built in a separate thread.
void wait_for_groups()
{
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
}

void close(std::deque<RuleFlow> &flows)
{
    for (RuleFlow &flow : flows) {
        flow.check();
        flow.flow->close();
    }
}
} // namespace

TEST_CASE("functions after different filters give the same results in one pass or one by one",
          "[mapi-core][engine]")
{
    const bool are_disjoint = GENERATE(false, true);
    const auto device = make_device();
    std::deque<RuleFlow> flows;
    for (int64_t n = 0; n < 12; ++n)
        flows.emplace_back(device)
            .then(kPlain, {are_disjoint ? 12 : 64, n, !are_disjoint})
            .then(kAny, {24, n, false})
            .connect();
    flows.emplace_back(device).then(kAny, {30, 13, false}).connect(); // not after a filter
    wait_for_groups();
    CHECK(any_calls.groups == 1);
    bool was_group = false, was_alone = false;
    for (int batch = 0; batch < 40; ++batch) {
        forget_calls();
        give(flows, 64);
        CHECK(plain_calls.alone == 12);
        CHECK(any_calls.alone == (any_calls.grouped == 1 ? 0 : 13));
        was_group |= any_calls.grouped == 1;
        was_alone |= any_calls.grouped == 0;
    }
    CHECK(was_group);
    CHECK(was_alone);
    close(flows);
}

TEST_CASE("a function after a grouped filter gets no packets of a batch in which it passes none",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    std::deque<RuleFlow> flows;
    for (int64_t n = 0; n < 20; ++n)
        flows.emplace_back(device)
            .then(kSame, {64, n, n < 10})
            .then(kAny, {2, n % 2, false})
            .connect();
    wait_for_groups();
    forget_calls();
    for (int round = 0; round < 20; ++round) {
        give(flows, 64);                             // all filters let packets pass
        for (const uint32_t packets : {1u, 2u, 12u}) // only some do
            give(flows, packets);
    }
    CHECK(same_calls.grouped == 80);
    CHECK(any_calls.grouped > 0);
    CHECK(any_calls.alone > 0);
    close(flows);
}

TEST_CASE("a node group that asks for them gets the packets of each node", "[mapi-core][engine]")
{
    const auto device = make_device();
    std::deque<RuleFlow> flows;
    for (int64_t n = 0; n < 20; ++n)
        flows.emplace_back(device)
            .then(kSame, {16, n % 5, false})
            .then(kOther, {3, n % 3, false})
            .connect();
    flows.emplace_back(device).then(kOther, {2, 1, false}).connect(); // not after a filter
    wait_for_groups();
    forget_calls();
    for (const uint32_t packets : {64u, 3u, 1u, 64u, 20u})
        give(flows, packets);
    CHECK(other_calls.grouped == 5);
    CHECK(other_calls.alone == 0);
    close(flows);
}

TEST_CASE("two nodes are enough for a node group that asks for the packets of each, not for others",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    std::deque<RuleFlow> flows;
    for (int64_t n = 0; n < 2; ++n)
        flows.emplace_back(device).then(kOther, {3, n, false}).then(kAny, {5, n, true}).connect();
    wait_for_groups();
    forget_calls();
    give(flows, 64);
    CHECK(other_calls.grouped == 1);
    CHECK(other_calls.alone == 0);
    CHECK(any_calls.grouped == 0);
    CHECK(any_calls.alone == 2);
    close(flows);
}

TEST_CASE("functions in any order get the same packets as ungrouped, while flows come and go",
          "[mapi-core][engine]")
{
    std::mt19937 random(GENERATE(1u, 2u, 3u));
    const auto device = make_device();
    const mapi_function *const functions[] = {&kPlain, &kSame, &kAny, &kOther};
    std::deque<RuleFlow> flows;
    const auto add = [&] {
        RuleFlow &flow = flows.emplace_back(device);
        for (uint32_t i = 1 + random() % 4; i > 0; --i) {
            const int64_t modulus = 1 + random() % 4;
            flow.then(*functions[random() % 4],
                      {modulus, int64_t(random()) % modulus, random() % 4 == 0});
        }
        flow.connect();
    };
    forget_calls();
    for (int round = 0; round < 12; ++round) {
        while (flows.size() < 150)
            add();
        for (int i = 0; i < 20; ++i) {
            give(flows, 1 + random() % 64);
            if (i == 5)
                wait_for_groups();
        }
        for (const RuleFlow &flow : flows)
            flow.check();
        for (int i = 0; i < 60; ++i) {
            const size_t gone = random() % flows.size();
            flows[gone].flow->close();
            flows.erase(flows.begin() + ptrdiff_t(gone));
        }
    }
    CHECK(same_calls.grouped > 0);
    CHECK(any_calls.grouped > 0);
    CHECK(other_calls.grouped > 0);
    CHECK(any_calls.alone > 0);
    close(flows);
}
