// SPDX-License-Identifier: MIT
// Named addresses: those in options, routing headers and ICMP messages are treated like source or
// destination.
#include <netinet/in.h>

#include "packets.hpp"
#include "support/catch.hpp"

using namespace anonymize_test;

namespace
{
const Bytes kAddress6 = hex("2a00ffff0000000000000000000000aa");
constexpr size_t kIp = 14;

// The packet's own address and that at `offset` become zeros.
void check_destination(const Bytes &packet, size_t offset, size_t bytes)
{
    const bool is_ipv6 = packet[kIp] >> 4 == 6;
    const Bytes expected = with_zeros(packet, kIp + (is_ipv6 ? 24 : 16), is_ipv6 ? 16 : 4);
    CHECK(treat("IP,DST_IP,ZERO", packet).bytes == with_zeros(expected, offset, bytes));
    const Bytes source = with_zeros(packet, kIp + (is_ipv6 ? 8 : 12), is_ipv6 ? 16 : 4);
    CHECK(treat("IP,SRC_IP,ZERO", packet).bytes == source);
}

Bytes icmpv6(uint8_t type, const Bytes &body)
{
    return ethernet(0x86dd, ipv6(IPPROTO_ICMPV6, icmp(type, body)));
}
} // namespace

TEST_CASE("routes in IPv4 options are treated like the destination", "[mapi-core][anonymize]")
{
    for (const char *type : {"07", "83", "89"}) {
        const Bytes options = hex("01") + hex(type) + hex("0b04 01020304 05060708");
        const Bytes packet = ethernet(0x0800, ipv4(IPPROTO_UDP, udp({}), options));
        check_destination(packet, kIp + 20 + 4, 8);
    }
    const Bytes stamps = ethernet(
        0x0800, ipv4(IPPROTO_UDP, udp({}), hex("44140501 01020304 000000aa 05060708 000000bb")));
    const Bytes treated = treat("IP,DST_IP,ZERO", stamps).bytes;
    CHECK(treated ==
          with_zeros(with_zeros(with_zeros(stamps, kIp + 16, 4), kIp + 24, 4), kIp + 32, 4));
}

TEST_CASE("malformed options end the search for routes", "[mapi-core][anonymize]")
{
    for (const char *options :
         {"8300 0401 02030405", "83ff 0401 02030405", "8301 0401 02030405", "00 0b0401 02030405"})
        CHECK(treat("IP,DST_IP,ZERO", ethernet(0x0800, ipv4(IPPROTO_UDP, udp({}), hex(options))))
                  .counts.fields == 1);
}

TEST_CASE("routing headers of IPv6 are treated like the destination", "[mapi-core][anonymize]")
{
    for (const char *head :
         {"11 02 00 01 00000000", "11 02 02 01 00000000", "11 02 04 00 00000000"})
        check_destination(ethernet(0x86dd, ipv6(IPPROTO_ROUTING, hex(head) + kAddress6 + udp({}))),
                          kIp + 48, 16);
    const Bytes behind =
        ethernet(0x86dd, ipv6(IPPROTO_HOPOPTS, hex("2b 00 0104 00000000 11 02 00 01 00000000") +
                                                   kAddress6 + udp({})));
    check_destination(behind, kIp + 56, 16);
}

TEST_CASE("targets of neighbour discovery are treated like the destination, in answers the source",
          "[mapi-core][anonymize]")
{
    check_destination(icmpv6(135, kAddress6), kIp + 48, 16);
    const Bytes answer = icmpv6(136, kAddress6);
    CHECK(treat("IP,SRC_IP,ZERO", answer).bytes ==
          with_zeros(with_zeros(answer, kIp + 8, 16), kIp + 48, 16));
    CHECK(treat("IP,DST_IP,ZERO", answer).bytes == with_zeros(answer, kIp + 24, 16));
    check_destination(
        icmpv6(134, hex("00000000 00000000 0304 40c0 00000000 00000000 00000000") + kAddress6),
        kIp + 72, 16);
    check_destination(
        icmpv6(134, hex("00000000 00000000 0101 020000000001 1903 0000 00000000") + kAddress6),
        kIp + 72, 16);
    check_destination(icmpv6(131, kAddress6), kIp + 48, 16);
    check_destination(icmpv6(143, hex("04 00 0001") + kAddress6 + kAddress6), kIp + 52, 32);
}

TEST_CASE("redirects show neither the better router nor what was redirected",
          "[mapi-core][anonymize]")
{
    const Bytes quote = ipv6(IPPROTO_UDP, udp({}));
    const Bytes redirect = icmpv6(137, kAddress6 + kAddress6 + hex("0407 0000 00000000") + quote);
    const size_t quoted = kIp + 40 + 48;
    Bytes expected = with_zeros(with_zeros(redirect, kIp + 24, 16), kIp + 48, 32);
    CHECK(treat("IP,DST_IP,ZERO", redirect).bytes == with_zeros(expected, quoted + 24, 16));
    CHECK(treat("UDP,SRC_PORT,ZERO", redirect).bytes == with_zeros(redirect, quoted + 40, 2));
    Bytes four = ethernet(0x0800, ipv4(IPPROTO_ICMP, icmp(5, ipv4(IPPROTO_UDP, udp({})))));
    const Bytes gateway = hex("0a000009");
    std::copy(gateway.begin(), gateway.end(), four.begin() + kIp + 24);
    expected = with_zeros(with_zeros(four, kIp + 16, 4), kIp + 24, 4);
    CHECK(treat("IP,DST_IP,ZERO", four).bytes == with_zeros(expected, kIp + 28 + 16, 4));
}
