// SPDX-License-Identifier: MIT
// addresses: lists of networks -> the addresses meant.
#include "support/catch.hpp"

#include "header/addresses.hpp"
#include "malformed_at.hpp"

using namespace snort2sids;

namespace
{
using Four = IntervalSet<uint32_t>;

constexpr uint32_t kTen = 0x0a000000;
} // namespace

TEST_CASE("any means all addresses of both versions", "[snort2sids][addresses]")
{
    CHECK(read_addresses("any").is_any());
    CHECK(read_addresses("[any]").is_any());
    CHECK(read_addresses("[any,10.0.0.0/8]").is_any());
}

TEST_CASE("a network is its range, whatever its host bits are", "[snort2sids][addresses]")
{
    CHECK(read_addresses("10.1.2.3").ipv4 == Four(0x0a010203, 0x0a010203));
    CHECK(read_addresses("10.1.2.3/8").ipv4 == Four(kTen, 0x0affffff));
    CHECK(read_addresses("10.1.2.3/255.0.0.0").ipv4 == Four(kTen, 0x0affffff));
    CHECK(read_addresses("0.0.0.0/0").ipv4.is_full());
    CHECK(read_addresses("10.0.0.0/8").ipv6.is_empty());
    CHECK(read_addresses("2001:db8::1/32").ipv4.is_empty());
    CHECK(read_addresses("2001:db8::1/32").ipv6 ==
          IntervalSet<Ipv6>(Ipv6(0x20010db8) << 96, (Ipv6(0x20010db9) << 96) - 1));
}

TEST_CASE("a list of negated addresses alone means all others, of both versions",
          "[snort2sids][addresses]")
{
    const AddressSet others = read_addresses("![10.0.0.0/8,192.168.0.0/16]");
    CHECK(others.ipv4 == Four::of({{kTen, 0x0affffff}, {0xc0a80000, 0xc0a8ffff}}).complement());
    CHECK(others.ipv6.is_full());
    CHECK(read_addresses("[!10.0.0.0/8,!192.168.0.0/16]") == others);
    CHECK(read_addresses("! 10.0.0.0/8").ipv4 == Four(kTen, 0x0affffff).complement());
}

TEST_CASE("negated addresses are taken out of the others, in nested lists too",
          "[snort2sids][addresses]")
{
    const Four expected = Four(kTen, 0x0affffff).minus(Four(0x0a010000, 0x0a01ffff));
    CHECK(read_addresses("[10.0.0.0/8,!10.1.0.0/16]").ipv4 == expected);
    CHECK(read_addresses("[!10.1.0.0/16, [10.0.0.0/9, [10.128.0.0/9]]]").ipv4 == expected);
    CHECK(read_addresses("![10.1.0.0/16,!10.0.0.0/8]").ipv4 == expected);
    CHECK(read_addresses("[10.0.0.0/8,!10.0.0.0/8]").ipv4.is_empty());
}

TEST_CASE("an error of addresses has its place", "[snort2sids][addresses]")
{
    const auto at = [](const char *text) {
        return malformed_at([&] { read_addresses(text); }).offset;
    };
    CHECK(at("") == 0);
    CHECK(at("10.0.0") == 0);
    CHECK(at("[10.0.0.1,ten]") == 10);
    CHECK(at("10.0.0.0/33") == 9);
    CHECK(at("10.0.0.0/") == 9);
    CHECK(at("10.0.0.0/255.0.255.0") == 9);
    CHECK(at("::/129") == 3);
    CHECK(at("[10.0.0.1") == 9);
    CHECK(at("[10.0.0.1,]") == 10);
    CHECK(at("10.0.0.1,10.0.0.2") == 8);
    CHECK(at("10.0.0.1]") == 8);
    CHECK(at(std::string(100, '[').c_str()) == 64);
}
