// SPDX-License-Identifier: MIT
// EXPIRED_FLOWS on a live device: flows end without packets, and a reader finds them at once.
#include "functions/catalog.hpp"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include <mapi/expiredflowshash.h>

#include "functions/expired_flow_ring.hpp"
#include "support/catch.hpp"
#include "support/function_memory.hpp"

namespace
{
constexpr uint64_t kSecond = 1000000000;
constexpr int64_t kFlows = 4;

// UDP, 28 bytes.
constexpr uint8_t kPacket[] = {0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 7, 0, 9, 0, 8, 0, 0};

struct Instance {
    const mapi_function &function = mapi_fn_expired_flows;
    std::vector<uint64_t> in_place;
    std::vector<uint64_t> copy;
    void *state = nullptr;

    Instance()
    {
        mapi_argument arguments[3] = {};
        arguments[0].number = kFlows;
        mapi_function_setup setup{};
        setup.arguments = arguments;
        setup.argument_count = 3;
        setup.engine = this;
        give_memory(setup);
        setup.allocate_result = [](const mapi_function_setup *given, uint32_t bytes) {
            auto &in_place = static_cast<Instance *>(given->engine)->in_place;
            in_place.resize(bytes / sizeof(uint64_t));
            return in_place.data();
        };
        REQUIRE(function.create(&setup, &state) == 0);
    }
    ~Instance() { function.destroy(state); }
    Instance(const Instance &) = delete;

    void run(uint64_t time_ns, uint8_t port)
    {
        uint8_t bytes[sizeof(kPacket)];
        memcpy(bytes, kPacket, sizeof(bytes));
        bytes[21] = port;
        mapi_packet packet{};
        packet.data = bytes;
        packet.caplen = packet.wire_len = sizeof(bytes);
        packet.timestamp_ns = time_ns;
        packet.link_type = 101; // IP
        mapi_batch batch{};
        mapi_batch_fill(&batch, &packet, 1);
        CHECK(function.process(state, &batch, 1) == 1);
    }
    const flows_stat &read()
    {
        copy.assign(in_place.size(), 0);
        function.read_result(state, copy.data());
        return *reinterpret_cast<const flows_stat *>(copy.data());
    }
};
} // namespace

TEST_CASE("expired flows are told when time goes on without packets, each once", "[mapi-core][functions]")
{
    Instance flows;
    flows.run(100 * kSecond, 7);
    flows.run(101 * kSecond, 7);
    CHECK(flows.read().received == 1);
    CHECK(flows.read().received == 0);
    flows.function.tick(flows.state, 130 * kSecond);
    CHECK(flows.read().sent == 0);
    flows.function.tick(flows.state, 131 * kSecond);
    const flows_stat &stat = flows.read();
    REQUIRE(stat.sent == 1);
    CHECK(stat.packets.sent == 2);
    const auto &flow = *reinterpret_cast<const flow_data *>(&stat + 1);
    CHECK(flow.packets_count == 2);
    CHECK(flow.bytes_count == 56);
    CHECK(flow.saddr.byte1 == 10);
    CHECK(flow.daddr.byte4 == 2);
    CHECK(flow.sport == 7);
    CHECK(flow.dport == 9);
    CHECK(flows.read().sent == 0);
}

TEST_CASE("the end of packets ends flows, as many as find room", "[mapi-core][functions]")
{
    Instance flows;
    for (uint8_t port = 1; port <= kFlows + 2; ++port)
        flows.run(100 * kSecond, port);
    flows.function.end(flows.state);
    mapi_function_drops drops{};
    flows.function.drops(flows.state, &drops);
    CHECK(drops.buffer_full == 2);
    const flows_stat &stat = flows.read();
    CHECK(stat.expired == kFlows + 2);
    CHECK(stat.sent == kFlows);
    CHECK(stat.dropped == 2);
}

TEST_CASE("a reader beside the writer gets every flow that found room, whole and in order", "[mapi-core][functions]")
{
    constexpr uint64_t kPushed = 200000;
    mapi::functions::ExpiredFlowRing ring(100);
    uint64_t refused = 0;
    std::atomic<bool> is_done = false;
    std::thread writer([&] {
        for (uint64_t i = 1; i <= kPushed; ++i) {
            flow_data flow{};
            flow.timestamp = flow.packets_count = flow.bytes_count = i;
            refused += !ring.push(flow);
        }
        is_done = true;
    });
    std::vector<flow_data> some(70);
    uint64_t taken = 0, last = 0, broken = 0;
    const auto take = [&] {
        const size_t count = ring.take(some.data(), some.size());
        for (size_t i = 0; i < count; ++i) {
            broken += some[i].timestamp <= last || some[i].bytes_count != some[i].timestamp;
            last = some[i].timestamp;
        }
        taken += count;
        return count;
    };
    while (!is_done)
        take();
    writer.join();
    while (take() > 0) {
    }
    CHECK(broken == 0);
    CHECK(taken + refused == kPushed);
}
