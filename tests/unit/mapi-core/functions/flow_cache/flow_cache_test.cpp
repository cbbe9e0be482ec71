// SPDX-License-Identifier: MIT
// Flow cache: each packet belongs to one flow, which ends once.
#include "functions/flow_cache/flow_cache.hpp"

#include <array>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace mapi::functions;

namespace
{
constexpr uint64_t kSecond = 1000000000;

struct Values {
    uint64_t sum;
};
using Cache = FlowCache<Values>;

struct Ended {
    uint64_t number, first_ns, last_ns, packets, sum;
    FlowEnd reason;
    uint64_t ended_ns;
};

FlowKey key(uint16_t port)
{
    FlowKey key{};
    key.version = 4;
    key.source_port = port;
    return key;
}

struct Fixture {
    Cache cache;
    std::vector<Ended> ended;

    Fixture(uint32_t room, uint64_t idle_ns, uint64_t active_ns) : cache(room, {idle_ns, active_ns})
    {
    }

    auto collect()
    {
        return [this](const Cache::Flow &flow, FlowEnd reason, uint64_t ended_ns) {
            ended.push_back({flow.number, flow.first_ns, flow.last_ns, flow.packets,
                             flow.values.sum, reason, ended_ns});
        };
    }
    void add(uint16_t port, uint64_t time_ns)
    {
        cache.add(key(port), time_ns, collect()).values.sum += port;
    }
    std::vector<FlowEnd> reasons() const
    {
        std::vector<FlowEnd> reasons;
        for (const Ended &flow : ended)
            reasons.push_back(flow.reason);
        return reasons;
    }
};
} // namespace

TEST_CASE("a flow ends after the idle timeout without packets, and not before",
          "[mapi-core][functions]")
{
    Fixture flows(8, 30 * kSecond, 0);
    flows.add(7, 100 * kSecond);
    flows.add(7, 129 * kSecond);
    flows.add(8, 159 * kSecond - 1);
    CHECK(flows.ended.empty());
    flows.add(8, 159 * kSecond);
    REQUIRE(flows.ended.size() == 1);
    const Ended &flow = flows.ended[0];
    CHECK(flow.number == 1);
    CHECK(flow.first_ns == 100 * kSecond);
    CHECK(flow.last_ns == 129 * kSecond);
    CHECK(flow.packets == 2);
    CHECK(flow.sum == 14);
    CHECK(flow.reason == FlowEnd::kIdle);
    flows.add(7, 160 * kSecond);
    flows.cache.end_all(flows.collect());
    CHECK(flows.ended.size() == 3);
    CHECK(flows.cache.begun() == 3);
    CHECK(flows.cache.size() == 0);
}

TEST_CASE("a flow that lasts for the active timeout ends and starts again",
          "[mapi-core][functions]")
{
    Fixture flows(8, 30 * kSecond, 60 * kSecond);
    for (uint64_t second = 0; second < 180; second += 10)
        flows.add(7, (1000 + second) * kSecond);
    CHECK(flows.reasons() == std::vector{FlowEnd::kActive, FlowEnd::kActive});
    for (const Ended &flow : flows.ended)
        CHECK(flow.packets == 6);
}

TEST_CASE("a flow ends at its timeout, however late the next packet arrives",
          "[mapi-core][functions]")
{
    Fixture flows(8, 30 * kSecond, 60 * kSecond);
    flows.add(1, 100 * kSecond); // idle before the active timeout
    for (uint64_t second = 110; second < 160; second += 10)
        flows.add(2, second * kSecond);
    flows.add(3, 10'000'000 * kSecond);
    flows.cache.end_all(flows.collect());
    CHECK(flows.reasons() == std::vector{FlowEnd::kIdle, FlowEnd::kActive, FlowEnd::kForced});
    CHECK(flows.ended.at(0).ended_ns == 130 * kSecond);
    CHECK(flows.ended.at(1).ended_ns == 170 * kSecond);
    CHECK(flows.ended.at(2).ended_ns == 10'000'000 * kSecond);
}

TEST_CASE("timeouts also expire without packets", "[mapi-core][functions]")
{
    Fixture flows(8, 30 * kSecond, 0);
    flows.add(7, 100 * kSecond);
    flows.cache.advance(129 * kSecond, flows.collect());
    CHECK(flows.ended.empty());
    flows.cache.advance(130 * kSecond, flows.collect());
    CHECK(flows.reasons() == std::vector{FlowEnd::kIdle});
}

TEST_CASE("both flows of a biflow continue and end together", "[mapi-core][functions]")
{
    Cache cache(4, {30 * kSecond, 60 * kSecond});
    std::vector<std::pair<uint64_t, uint64_t>>
        ended; // number of the flow that timed out, and of the other
    const auto other = [](uint16_t port) { return uint16_t(port % 2 ? port + 1 : port - 1); };
    const auto collect = [&](const Cache::Flow &flow, FlowEnd, uint64_t) {
        const auto taken = cache.take(key(other(flow.key.source_port)));
        ended.emplace_back(flow.number, taken ? taken->number : 0);
    };
    const auto add = [&](uint16_t port, uint64_t second) {
        cache.add(key(port), second * kSecond, collect);
        cache.keep(key(other(port)));
    };
    add(1, 100);
    add(2, 101); // its other direction
    add(2, 125);
    add(3, 126);
    add(2, 150); // this also keeps the first one
    CHECK(ended.empty());
    add(5, 170); // 1 and 2 are active for 60 s, 3 was idle
    CHECK(ended == std::vector<std::pair<uint64_t, uint64_t>>{{3, 0}, {1, 2}});
    CHECK(cache.size() == 1);
    for (const uint16_t port : {6, 7, 8, 9}) // a full cache evicts the pair idle longest
        add(port, 171);
    CHECK(ended.size() == 3);
    CHECK(ended.back() == std::pair<uint64_t, uint64_t>{5, 4});
    CHECK(cache.size() == 3);
    cache.end_all(collect);
    CHECK(cache.size() == 0);
    CHECK(ended.size() == 5);
    CHECK_FALSE(cache.take(key(9)));
}

TEST_CASE("a full cache ends the flow that was idle longest and counts it",
          "[mapi-core][functions]")
{
    Fixture flows(3, 30 * kSecond, 0);
    for (const uint16_t port : {1, 2, 3, 1, 4})
        flows.add(port, 100 * kSecond);
    CHECK(flows.cache.size() == 3);
    CHECK(flows.cache.ended_early() == 1);
    REQUIRE(flows.reasons() == std::vector{FlowEnd::kNoRoom});
    CHECK(flows.ended[0].number == 2);
}

TEST_CASE("a packet that arrives late does not turn time back", "[mapi-core][functions]")
{
    Fixture flows(8, 30 * kSecond, 0);
    flows.add(7, 100 * kSecond);
    flows.add(7, 99 * kSecond);
    flows.add(8, 110 * kSecond);
    flows.add(8, 129 * kSecond);
    CHECK(flows.ended.empty());
    flows.add(8, 130 * kSecond);
    REQUIRE(flows.ended.size() == 1);
    CHECK(flows.ended[0].first_ns == 99 * kSecond);
    CHECK(flows.ended[0].last_ns == 100 * kSecond);
    CHECK(flows.cache.time_jumps() == 0);
}

TEST_CASE("a step back in time ends all flows and is counted", "[mapi-core][functions]")
{
    Fixture flows(8, 30 * kSecond, 0);
    flows.add(7, 100 * kSecond);
    flows.add(7, 70 * kSecond - 1);
    CHECK(flows.reasons() == std::vector{FlowEnd::kForced});
    CHECK(flows.cache.time_jumps() == 1);
    CHECK(flows.cache.now_ns() == 70 * kSecond - 1);
}

TEST_CASE("times at both ends of the clock's range end flows as others do",
          "[mapi-core][functions]")
{
    Fixture flows(8, 30 * kSecond, 60 * kSecond);
    flows.add(7, UINT64_MAX);
    flows.add(7, UINT64_MAX);
    flows.add(7, 0);
    flows.add(7, UINT64_MAX);
    CHECK(flows.reasons() == std::vector{FlowEnd::kForced, FlowEnd::kIdle});
}

TEST_CASE("flows for any order of packets are those of a simple table", "[mapi-core][functions]")
{
    constexpr uint64_t kIdle = 5 * kSecond, kActive = 20 * kSecond;
    Fixture flows(1 << 10, kIdle, kActive);
    struct Flow {
        uint64_t first_ns, last_ns, packets;
    };
    std::map<uint16_t, Flow> table;
    std::vector<std::tuple<uint64_t, uint64_t, uint64_t>> expected, found;
    std::mt19937 random(16);
    uint64_t now_ns = 1000 * kSecond;
    for (int i = 0; i < 20000; ++i) {
        now_ns += random() % (kSecond / 8);
        const auto port = uint16_t(random() % 2 ? random() % 8 : random() % 300);
        flows.add(port, now_ns);
        for (auto at = table.begin(); at != table.end();) {
            const Flow &flow = at->second;
            const bool is_over =
                now_ns - flow.last_ns >= kIdle || now_ns - flow.first_ns >= kActive;
            if (is_over)
                expected.emplace_back(flow.first_ns, flow.last_ns, flow.packets);
            at = is_over ? table.erase(at) : std::next(at);
        }
        Flow &flow = table.try_emplace(port, Flow{now_ns, now_ns, 0}).first->second;
        flow.last_ns = now_ns;
        ++flow.packets;
    }
    for (const Ended &flow : flows.ended)
        found.emplace_back(flow.first_ns, flow.last_ns, flow.packets);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    CHECK(expected.size() > 1000);
    CHECK(found == expected);
    CHECK(flows.cache.size() == table.size());
    CHECK(flows.cache.ended_early() == 0);
}

TEST_CASE("two caches hash the same flow differently", "[mapi-core][functions]")
{
    const FlowHash one, other;
    unsigned same = 0;
    for (uint16_t port = 0; port < 1000; ++port)
        same += one(key(port)) == other(key(port));
    CHECK(same == 0);
    CHECK(one(key(1)) == one(key(1)));
}
