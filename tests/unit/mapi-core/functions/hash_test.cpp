// SPDX-License-Identifier: MIT
// HASH: which bytes of a packet belong to a layer.
#include <numeric>

#include "mapi-core/functions/one_packet.hpp"
#include "support/catch.hpp"

namespace
{
using namespace frame_bytes;

uint32_t hash(int64_t layer, const Bytes &frame)
{
    return test_support::OnePacket(mapi_fn_hash, {layer}, frame).result<uint32_t>();
}

uint32_t sum(const Bytes &bytes)
{
    return uint32_t(std::accumulate(bytes.begin(), bytes.end(), bytes.size()) % 500009);
}

Bytes ipv4(uint8_t protocol, const Bytes &payload)
{
    return hex("4500") + half(20 + payload.size()) + hex("00010000 40") + Bytes{protocol} +
           hex("0000 0a000001 0a000002") + payload;
}

Bytes ipv6(uint8_t next, const Bytes &payload)
{
    return hex("60000000") + half(payload.size()) + Bytes{next, 64} +
           hex("20010db8000000000000000000000001 20010db8000000000000000000000002") + payload;
}

const Bytes kUdp = hex("0035 1234 000a 0000 0708");
const Bytes kPadding = hex("ffffffff");
} // namespace

TEST_CASE("the network layer is the IP packet, without what follows it in the frame",
          "[mapi-core][functions]")
{
    for (const auto &[type, packet] :
         {std::pair(0x0800, ipv4(17, kUdp)), std::pair(0x86dd, ipv6(17, kUdp))}) {
        CHECK(hash(1, ethernet(uint16_t(type), packet)) == sum(packet));
        CHECK(hash(1, ethernet(uint16_t(type), packet + kPadding)) == sum(packet));
        CHECK(hash(2, ethernet(uint16_t(type), packet + kPadding)) == sum(kUdp));
        CHECK(hash(0, ethernet(uint16_t(type), packet + kPadding)) ==
              sum(ethernet(uint16_t(type), packet + kPadding)));
    }
}

TEST_CASE("the network layer of a tunnel is the innermost IP packet", "[mapi-core][functions]")
{
    const Bytes inner = ipv6(17, kUdp);
    const Bytes frame = ethernet(0x0800, ipv4(41, inner + kPadding));
    CHECK(hash(1, frame) == sum(inner));
    CHECK(hash(2, frame) == sum(kUdp));
}

TEST_CASE("the network layer without IP is everything after the link header",
          "[mapi-core][functions]")
{
    const Bytes arp(28, 3);
    CHECK(hash(1, ethernet(0x0806, arp)) == sum(arp));
    CHECK(hash(1, ethernet(38, Bytes(38, 0x42))) == 0);
}
