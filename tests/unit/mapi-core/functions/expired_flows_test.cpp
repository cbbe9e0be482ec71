// SPDX-License-Identifier: MIT
// EXPIRED_FLOWS on a live device: flows end without packets, and a reader sees them immediately.
#include "functions/catalog.hpp"

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include <mapi/expiredflowshash.h>

#include "engine/node/composed_result.hpp"
#include "mapi-core/functions/ring_setup.hpp"
#include "support/catch.hpp"

namespace
{
constexpr uint64_t kSecond = 1000000000;
constexpr int64_t kFlows = 4;

// UDP, 28 bytes.
constexpr uint8_t kPacket[] = {0x45, 0, 0,  28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0,
                               0,    1, 10, 0,  0, 2, 0, 7, 0,  9,  0, 8, 0,  0};

struct Memory : RingSetup {
    std::vector<uint64_t> in_place;
};

struct Instance {
    const mapi_function &function = mapi_fn_expired_flows;
    Memory memory;
    void *state = nullptr;
    mapi::engine::ComposedResult composed{function};
    std::vector<uint64_t> copy;

    explicit Instance(int64_t waiting_flows = 0)
    {
        mapi_argument arguments[3] = {};
        arguments[0].number = kFlows;
        arguments[1].number = waiting_flows;
        memory.setup.arguments = arguments;
        memory.setup.argument_count = 3;
        memory.setup.allocate_result = [](const mapi_function_setup *given, uint32_t bytes) {
            auto &in_place =
                static_cast<Memory *>(static_cast<RingSetup *>(given->engine))->in_place;
            in_place.resize(bytes / sizeof(uint64_t));
            return in_place.data();
        };
        REQUIRE(function.create(&memory.setup, &state) == 0);
        records.emplace(memory.memory->writer().pages(), false);
    }
    ~Instance() { function.destroy(state); }
    Instance(const Instance &) = delete;

    void run(uint64_t time_ns, uint16_t port)
    {
        uint8_t bytes[sizeof(kPacket)];
        memcpy(bytes, kPacket, sizeof(bytes));
        bytes[20] = uint8_t(port >> 8);
        bytes[21] = uint8_t(port);
        mapi_packet packet{};
        packet.data = bytes;
        packet.caplen = packet.wire_len = sizeof(bytes);
        packet.timestamp_ns = time_ns;
        packet.link_type = 101; // IP
        mapi_batch batch{};
        mapi_batch_fill(&batch, &packet, 1);
        if (function.process(state, &batch, 1) != 1)
            FAIL("a packet did not pass");
    }
    const flows_stat &read()
    {
        copy.assign(memory.in_place.size(), 0);
        composed.read(memory.in_place.data(), copy.size() * sizeof(uint64_t), *records,
                      copy.data());
        return *reinterpret_cast<const flows_stat *>(copy.data());
    }
    uint64_t dropped() const { return memory.memory->writer().dropped(); }

private:
    std::optional<mapi::ring::RecordSource> records;
};

const flow_data *flows_of(const flows_stat &stat)
{
    return reinterpret_cast<const flow_data *>(&stat + 1);
}
} // namespace

TEST_CASE("expired flows are reported as time passes without packets, each once",
          "[mapi-core][functions]")
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
    const flow_data &flow = *flows_of(stat);
    CHECK(flow.packets_count == 2);
    CHECK(flow.bytes_count == 56);
    CHECK(flow.saddr.byte1 == 10);
    CHECK(flow.daddr.byte4 == 2);
    CHECK(flow.sport == 7);
    CHECK(flow.dport == 9);
    CHECK(flows.read().sent == 0);
}

TEST_CASE("the end of packets ends flows, as many as fit", "[mapi-core][functions]")
{
    Instance flows;
    for (uint16_t port = 1; port <= kFlows + 2; ++port)
        flows.run(100 * kSecond, port);
    flows.function.ending->end(flows.state);
    CHECK(flows.dropped() == 2);
    const flows_stat &stat = flows.read();
    CHECK(stat.expired == kFlows + 2);
    CHECK(stat.sent == kFlows);
    CHECK(stat.dropped == 2);
}

TEST_CASE("a read frees space for as many flows as it returned", "[mapi-core][functions]")
{
    Instance flows(3);
    uint64_t ended = 0, reported = 0;
    for (int round = 0; round < 100; ++round) {
        for (uint16_t port = 1; port <= kFlows; ++port, ++ended)
            flows.run((100 + 60 * uint64_t(round)) * kSecond, port);
        flows.function.tick(flows.state, (150 + 60 * uint64_t(round)) * kSecond);
        const flows_stat &stat = flows.read();
        CHECK(stat.dropped == 0);
        reported += stat.sent;
    }
    CHECK(reported == ended);
    CHECK(flows.dropped() == 0);
}

TEST_CASE("a concurrent reader gets every flow that fitted, complete, in order and counted",
          "[mapi-core][functions]")
{
    constexpr uint16_t kEnded = 20000;
    Instance flows(100);
    std::atomic<bool> is_done = false;
    std::thread writer([&] { // each packet ends the flow of the previous one
        for (uint16_t port = 1; port <= kEnded; ++port)
            flows.run(port * 40 * kSecond, port);
        flows.function.ending->end(flows.state);
        is_done = true;
    });
    uint64_t reported = 0, expired = 0, dropped = 0, broken = 0, behind = 0, last = 0;
    const auto take = [&] {
        const flows_stat &stat = flows.read();
        for (uint32_t i = 0; i < stat.sent; ++i) {
            const flow_data &flow = flows_of(stat)[i];
            broken += flow.sport <= last || flow.packets_count != 1 ||
                      flow.bytes_count != sizeof(kPacket) || flow.dport != 9;
            last = flow.sport;
        }
        reported += stat.sent;
        expired += stat.expired;
        dropped += stat.dropped;
        behind += expired < reported;
        return stat.sent;
    };
    while (!is_done)
        take();
    writer.join();
    while (take() > 0) {
    }
    CHECK(broken == 0);
    CHECK(behind == 0);
    CHECK(expired == kEnded);
    CHECK(dropped == flows.dropped());
    CHECK(reported + dropped == kEnded);
}
