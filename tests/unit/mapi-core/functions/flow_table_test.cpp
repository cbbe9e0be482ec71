// SPDX-License-Identifier: MIT
// Flow table and flow key: one state for both directions, as long as packets arrive and there is
// room.
#include "functions/common/flow_table.hpp"

#include <vector>

#include "support/catch.hpp"
#include "support/heap_bytes.hpp"

using mapi::functions::flow_key;
using mapi::functions::FlowKey;
using mapi::functions::FlowTable;

namespace
{
FlowKey key(uint16_t port)
{
    FlowKey key;
    key.lower_port = port;
    return key;
}

// IPv4 without a link header, protocol UDP.
std::vector<uint8_t> packet(uint8_t source, uint8_t destination, uint16_t source_port,
                            uint16_t destination_port)
{
    std::vector<uint8_t> bytes(28);
    bytes[0] = 0x45;
    bytes[3] = 28;
    bytes[9] = 17;
    bytes[15] = source;
    bytes[19] = destination;
    bytes[20] = uint8_t(source_port >> 8);
    bytes[21] = uint8_t(source_port);
    bytes[22] = uint8_t(destination_port >> 8);
    bytes[23] = uint8_t(destination_port);
    return bytes;
}

FlowKey key_of(const std::vector<uint8_t> &bytes)
{
    constexpr uint16_t kRaw = 101;
    const mapi_packet view = {
        bytes.data(), uint32_t(bytes.size()), uint32_t(bytes.size()), 0, kRaw, 0, 0};
    const auto headers = mapi::headers::parse(view);
    REQUIRE(headers.innermost());
    return flow_key(view, *headers.innermost());
}
} // namespace

TEST_CASE("both directions of a flow have one key, and no other flow has it",
          "[mapi-core][functions]")
{
    CHECK(key_of(packet(1, 2, 1000, 80)) == key_of(packet(2, 1, 80, 1000)));
    CHECK(key_of(packet(1, 1, 1000, 80)) == key_of(packet(1, 1, 80, 1000)));
    CHECK_FALSE(key_of(packet(1, 2, 1000, 80)) == key_of(packet(2, 1, 1000, 80)));
    CHECK_FALSE(key_of(packet(1, 2, 1000, 80)) == key_of(packet(1, 2, 1000, 81)));
    CHECK_FALSE(key_of(packet(1, 2, 1000, 80)) == key_of(packet(1, 3, 1000, 80)));
}

TEST_CASE("a full table evicts the flow that was silent longest, and counts it",
          "[mapi-core][functions]")
{
    FlowTable<int> flows(3, 1000);
    for (uint16_t port = 1; port <= 3; ++port)
        flows.touch(key(port), port) = port;
    CHECK(flows.touch(key(1), 4) == 1);
    flows.touch(key(4), 5) = 4; // 2 is evicted
    CHECK(flows.pushed_out() == 1);
    CHECK(flows.touch(key(1), 6) == 1);
    CHECK(flows.touch(key(3), 7) == 3);
    CHECK(flows.touch(key(4), 8) == 4);
    CHECK(flows.begun() == 4);
    CHECK(flows.touch(key(2), 9) == 0); // starts again
    CHECK(flows.size() == 3);
    CHECK(flows.begun() == 5);
}

TEST_CASE("a flow that is silent for too long starts again; one that continues does not",
          "[mapi-core][functions]")
{
    FlowTable<int> flows(10, 100);
    flows.touch(key(1), 1000) = 1;
    flows.touch(key(2), 1000) = 2;
    CHECK(flows.touch(key(1), 1100) == 1);
    CHECK(flows.touch(key(1), 1200) == 1);
    CHECK(flows.size() == 1);
    CHECK(flows.touch(key(2), 1201) == 0);
    CHECK(flows.touch(key(1), 900) == 1); // a clock that went back ends nothing
    CHECK(flows.pushed_out() == 0);
}

TEST_CASE("after a silence all flows start again, though only two are removed with each packet",
          "[mapi-core][functions]")
{
    FlowTable<int> flows(100, 100);
    for (uint16_t port = 1; port <= 10; ++port)
        flows.touch(key(port), 1000) = port;
    CHECK(flows.touch(key(10), 2000) == 0);
    CHECK(flows.size() == 8);
    CHECK(flows.touch(key(9), 2000) == 0);
    CHECK(flows.touch(key(8), 2000) == 0);
    CHECK(flows.begun() == 13);
    for (int i = 0; i < 10; ++i)
        flows.touch(key(10), 2000);
    CHECK(flows.size() == 3);
}

#ifdef HEAP_BYTES_ARE_REPORTED
TEST_CASE("a full flow table uses no more memory than declared", "[mapi-core][functions]")
{
    constexpr size_t kFlows = 50000;
    const uint64_t before = heap_bytes();
    FlowTable<uint64_t> table(kFlows, 1000);
    for (uint32_t i = 0; i <= kFlows; ++i)
        table.touch(key(uint16_t(i)), 1);
    check_heap_growth(before, FlowTable<uint64_t>::memory_bytes(kFlows));
}
#endif
