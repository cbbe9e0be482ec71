// SPDX-License-Identifier: MIT
// GAP and PKTINFO: the value of the last packet, and of each packet for functions that refer to it.
#include "functions/catalog.hpp"

#include <bit>
#include <vector>

#include <mapi/functions.h>
#include <mapi/mapi.h>

#include "support/catch.hpp"
#include "support/function_memory.hpp"

namespace
{
constexpr uint64_t kTicksPerSecond = uint64_t(1) << 32;

struct Instance {
    const mapi_function &function;
    uint64_t result = 0;
    void *state = nullptr;
    std::vector<mapi_packet> packets;
    uint64_t values[64] = {};

    Instance(const mapi_function &table, int64_t argument) : function(table)
    {
        mapi_argument given{};
        given.number = argument;
        given.kind = MAPI_ARGUMENT_INT;
        mapi_function_setup setup{};
        setup.arguments = &given;
        setup.argument_count = 1;
        setup.result = &result;
        give_memory(setup);
        REQUIRE(function.create(&setup, &state) == 0);
    }
    ~Instance() { function.destroy(state); }
    Instance(const Instance &) = delete;

    // Packets at these times, filtered by the mask -> the packets for which there are values.
    uint64_t run(const std::vector<uint64_t> &times_ns, uint64_t mask)
    {
        packets.clear();
        for (const uint64_t time_ns : times_ns) {
            mapi_packet packet{};
            packet.timestamp_ns = time_ns;
            packet.wire_len = uint32_t(time_ns / 1000000);
            packets.push_back(packet);
        }
        mapi_batch batch{};
        batch.packets = packets.data();
        batch.count = uint32_t(packets.size());
        batch.all = (uint64_t(1) << packets.size()) - 1;
        CHECK(function.process(state, &batch, mask) == mask);
        return function.result->values(state, &batch, mask, values);
    }
};
} // namespace

TEST_CASE("the gap is between packets that reached the function, within or across batches",
          "[mapi-core][functions]")
{
    Instance gap(mapi_fn_gap, 0);
    const uint64_t second = 1000000000;
    CHECK(gap.run({100 * second}, 1) == 0);
    CHECK(gap.result == 0);
    CHECK(gap.run({101 * second, 102 * second, 102 * second + second / 2}, 0b101) == 0b101);
    CHECK(gap.values[0] == kTicksPerSecond);
    CHECK(gap.values[2] == kTicksPerSecond * 3 / 2);
    CHECK(gap.result == kTicksPerSecond * 3 / 2);
    CHECK(gap.run({102 * second}, 1) == 1); // out of order
    CHECK(gap.result == 0);
}

TEST_CASE("the first packet has no gap, even if others are in its batch", "[mapi-core][functions]")
{
    Instance gap(mapi_fn_gap, 0);
    CHECK(gap.run({0, 1000, 2000}, 0b111) == 0b110);
    CHECK(gap.result == kTicksPerSecond / 1000000);
}

TEST_CASE("size and time stamp are those of each packet", "[mapi-core][functions]")
{
    Instance size(mapi_fn_pktinfo, PKT_SIZE), time(mapi_fn_pktinfo, PKT_TS);
    CHECK(size.run({42000000, 1514000000}, 0b11) == 0b11);
    CHECK(size.values[0] == 42);
    CHECK(size.result == 1514);
    CHECK(time.run({0, 1500000000}, 0b10) == 0b10);
    CHECK(time.result == (2208988801 << 32 | uint64_t(1) << 31));
}
