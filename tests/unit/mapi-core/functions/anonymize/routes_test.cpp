// SPDX-License-Identifier: MIT
// Checksums of packets with source routes: they cover the last address of the route.
#include <netinet/in.h>

#include "packets.hpp"
#include "support/catch.hpp"

using namespace anonymize_test;

namespace
{
const char *const kHop = "20010db8000000000000000000000aaa", *const kOtherHop =
                                                                 "20010db8000000000000000000000bbb";
const char *const kTarget = "20010db8000000000000000000000fff",
                  *const kHome = "20010db8000000000000000000000eee";
const char *const kSender = "20010db8000000000000000000000001";

// An IPv6 packet with one header before `payload`.
Bytes routed(const char *source, const char *destination, uint8_t kind, const Bytes &header,
             uint8_t protocol, const Bytes &payload)
{
    Bytes extension = header;
    extension[0] = protocol;
    return ethernet(0x86dd, hex("60000000") + half(extension.size() + payload.size()) +
                                Bytes{kind, 64} + hex(source) + hex(destination) + extension +
                                payload);
}

Bytes plain(const char *source, const char *destination, uint8_t protocol, const Bytes &payload)
{
    return ethernet(0x86dd, hex("60000000") + half(payload.size()) + Bytes{protocol, 64} +
                                hex(source) + hex(destination) + payload);
}

Bytes source_routed(const char *source, const char *destination, const char *option,
                    const Bytes &payload)
{
    const Bytes options = hex(option);
    return ethernet(0x0800, Bytes{uint8_t(0x45 + options.size() / 4), 0} +
                                half(20 + options.size() + payload.size()) +
                                hex("0001 0000 4006 0000") + hex(source) + hex(destination) +
                                options + payload);
}

struct Kind {
    uint8_t protocol;
    Bytes payload;
    size_t checksum; // in it
};
const Kind kKinds[] = {{IPPROTO_TCP, tcp(text("abc")), 16},
                       {IPPROTO_UDP, udp(text("abcd")), 6},
                       {IPPROTO_ICMPV6, icmp(128, text("abc")), 2}};

// Its value after CHECKSUM_ADJUST.
Bytes checksum_of(const Bytes &packet, const Kind &kind)
{
    const Bytes adjusted = treat("IP,CHECKSUM,CHECKSUM_ADJUST", packet).bytes;
    const auto at = adjusted.end() - long(kind.payload.size()) + long(kind.checksum);
    return {at, at + 2};
}

struct Route {
    const char *what;
    const char *destination;
    Bytes header;
};
} // namespace

TEST_CASE("a checksum after a routing header covers the route's last address",
          "[mapi-core][anonymize]")
{
    const Bytes hop = hex(kHop), other = hex(kOtherHop), target = hex(kTarget);
    const Route routes[] = {
        {"type 0, two hops left", kHop, hex("00 04 00 02 00000000") + other + target},
        {"type 0, one of two left", kOtherHop, hex("00 04 00 01 00000000") + hop + target},
        {"type 0, none left", kTarget, hex("00 04 00 00 00000000") + hop + other},
        {"type 2", kHop, hex("00 02 02 01 00000000") + target},
        {"type 2, none left", kTarget, hex("00 02 02 00 00000000") + hop},
        {"type 3, two bytes of an address", kHop, hex("00 01 03 01 ee 60 0000 0fff 000000000000")},
        {"type 3, addresses of two lengths", kOtherHop,
         hex("00 01 03 02 ce 20 0000 00000aaa 0fff 0000")},
        {"type 4", kHop, hex("00 04 04 01 01 00 0000") + target + hop},
        {"type 4, the first segment left out", kHop,
         hex("00 04 04 02 01 00 0000") + target + other},
        {"type 4, none left", kTarget, hex("00 04 04 00 01 00 0000") + target + hop},
        {"type 4, with a TLV", kHop,
         hex("00 05 04 01 01 00 0000") + target + hop + hex("0406 000000000000")},
        {"an unknown type, none left", kTarget, hex("00 02 fd 00 00000000") + hop},
    };
    for (const Route &route : routes) {
        for (const Kind &kind : kKinds) {
            INFO(route.what << ", protocol " << int(kind.protocol));
            const Bytes packet = routed(kSender, route.destination, IPPROTO_ROUTING, route.header,
                                        kind.protocol, kind.payload);
            CHECK(checksum_of(packet, kind) ==
                  checksum_of(plain(kSender, kTarget, kind.protocol, kind.payload), kind));
        }
    }
}

TEST_CASE("a checksum after an IPv4 source route covers its last address while hops are left",
          "[mapi-core][anonymize]")
{
    const Kind &kind = kKinds[0];
    const Bytes wanted = checksum_of(source_routed("0a000001", "0a00000f", "", kind.payload), kind);
    for (const char *option : {"83 0b 04 0a00000b 0a00000f 00", "89 0b 08 0a00000a 0a00000f 00",
                               "01 83 07 04 0a00000f", "01010101 83 07 04 0a00000f 00"})
        CHECK(checksum_of(source_routed("0a000001", "0a00000a", option, kind.payload), kind) ==
              wanted);
    for (const char *option :
         {"83 0b 0c 0a00000b 0a00000a 00", "00 83 07 04 0a000001", "07 07 04 0a00000a 00"})
        CHECK(checksum_of(source_routed("0a000001", "0a00000f", option, kind.payload), kind) ==
              wanted);
}

TEST_CASE("a checksum after a home address option covers the home address",
          "[mapi-core][anonymize]")
{
    for (const Kind &kind : kKinds) {
        const Bytes packet =
            routed(kSender, kTarget, IPPROTO_DSTOPTS, hex("00 02 0102 0000 c910") + hex(kHome),
                   kind.protocol, kind.payload);
        CHECK(checksum_of(packet, kind) ==
              checksum_of(plain(kHome, kTarget, kind.protocol, kind.payload), kind));
    }
}

TEST_CASE("a route without a known end makes the checksum 0, and is counted",
          "[mapi-core][anonymize]")
{
    const Kind &kind = kKinds[0];
    const Bytes hop = hex(kHop);
    const Bytes headers[] = {
        hex("00 02 fd 01 00000000") + hop,               // unknown
        hex("00 02 00 02 00000000") + hop,               // more hops than addresses
        hex("00 03 00 01 00000000") + hop + Bytes(8, 0), // half an address
        hex("00 00 00 01 00000000"),                     // none
        hex("00 04 02 01 00000000") + hop + hop,         // a home route has one
        hex("00 02 04 01 01 00 0000") + hop,             // a last entry that is not there
        hex("00 02 04 03 00 00 0000") + hop,             // more hops than entries
        hex("00 01 03 01 00 f0 0000") + Bytes(8, 0),     // more padding than there is
        hex("00 01 03 05 ee 00 0000") + Bytes(8, 1),
    };
    for (const Bytes &header : headers) {
        const Bytes packet =
            routed(kSender, kTarget, IPPROTO_ROUTING, header, kind.protocol, kind.payload);
        CHECK(checksum_of(packet, kind) == Bytes{0, 0});
        CHECK(treat("IP,CHECKSUM,CHECKSUM_ADJUST", packet).counts.unknown_checksums == 1);
    }
    for (const char *option : {"83 09 04 0a00000b 0a00 000000", "83 07 03 0a00000b 00",
                               "83 03 03 00", "83 02 0000", "89 04 04 00"}) {
        INFO(option);
        const Bytes packet = source_routed("0a000001", "0a00000a", option, kind.payload);
        CHECK(checksum_of(packet, kind) == Bytes{0, 0});
    }
}
