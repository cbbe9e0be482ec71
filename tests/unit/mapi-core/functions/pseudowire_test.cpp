// SPDX-License-Identifier: MIT
// Functions that look at addresses and ports find them in an Ethernet pseudowire.
#include "mapi-core/functions/one_packet.hpp"
#include "support/catch.hpp"

#include <mapi/results.h>
#include <mapi/topx.h>

namespace
{
using namespace frame_bytes;
using test_support::OnePacket;

const Bytes kUdp = hex("0035 1234 0008 0000");
const Bytes kFour = hex("4500 001c 0001 0000 4011 0000 0a000001 0a000002") + kUdp;
const Bytes kSix =
    hex("60000000 0008 11 40 20010db8000000000000000000000001 20010db8000000000000000000000002") +
    kUdp;

Bytes pseudowire(uint16_t type, const Bytes &packet)
{
    return ethernet(0x8847, hex("00010040 00011140 00000007") + ethernet(type, packet));
}
} // namespace

TEST_CASE("TOP counts the addresses and ports inside a pseudowire", "[mapi-core][functions]")
{
    for (const Bytes &frame : {pseudowire(0x0800, kFour), pseudowire(0x86dd, kSix)}) {
        const auto port =
            OnePacket(mapi_fn_top, {1, TOPX_UDP, TOPX_UDP_DSTPORT, SORT_BY_PACKETS, 0}, frame)
                .result<mapi_top_t>();
        REQUIRE(port.rows == 1);
        CHECK(port.row[0].value == 0x1234);
        CHECK(port.row[0].count == 1);
        CHECK(OnePacket(mapi_fn_top, {1, TOPX_IP, TOPX_IP_SRCIP, SORT_BY_PACKETS, 0}, frame)
                  .result<mapi_top_t>()
                  .rows == 1);
    }
}

TEST_CASE("HASHSAMP selects the flows inside a pseudowire", "[mapi-core][functions]")
{
    CHECK(OnePacket(mapi_fn_hashsamp, {1024, 0}, pseudowire(0x0800, kFour)).passes());
    CHECK(OnePacket(mapi_fn_hashsamp, {1024, 0}, pseudowire(0x86dd, kSix)).passes());
    CHECK_FALSE(OnePacket(mapi_fn_hashsamp, {1024, 0}, pseudowire(0x0800, hex("0000"))).passes());
}
