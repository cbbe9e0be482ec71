// SPDX-License-Identifier: MIT
// filter: headers -> BPF filters, word for word.
#include "support/catch.hpp"

#include "header/filter.hpp"

using namespace snort2sids;

namespace
{
std::string filter(const std::string &header)
{
    return filter_of(read_header("alert " + header + " (", Variables())).value_or("nothing");
}
} // namespace

TEST_CASE("ports become a filter of the packets whose ports Snort reads", "[snort2sids][filter]")
{
    CHECK(filter("tcp any any -> any 80") ==
          "tcp and not ip[6:2] & 0x3fff > 0 and not ip6[6] = 44 and tcp dst port 80");
    CHECK(filter("udp any 53 -> any !1:1023") ==
          "udp and not ip[6:2] & 0x1fff > 0 and not ip6[6] = 44 and udp src port 53 and not udp "
          "dst portrange 1-1023");
    CHECK(filter("icmp any any -> any any") ==
          "(icmp or icmp6) and not ip[6:2] & 0x3fff > 0 and not ip6[6] = 44");
    CHECK(filter("ip any any -> any any") == "ip or ip6");
}

TEST_CASE("addresses become the shorter of a list and its negation", "[snort2sids][filter]")
{
    CHECK(filter("ip 10.0.0.0/8 any -> any any") == "ip and ip src net 10.0.0.0/8");
    CHECK(filter("ip any any -> ![10.0.0.0/9,10.128.0.0/9] any") ==
          "((ip and not ip dst net 10.0.0.0/8) or (ip6))");
    CHECK(filter("icmp any any -> 10.0.0.1 any") ==
          "icmp and not ip[6:2] & 0x3fff > 0 and ip and ip dst host 10.0.0.1");
    CHECK(filter("udp 2001:db8::/32 any -> any 53") ==
          "udp and not ip6[6] = 44 and ip6 and ip6 src net 2001:db8::/32 and udp dst port 53");
}

TEST_CASE("a network whose divided word is 0 is compared without a mask", "[snort2sids][filter]")
{
    CHECK(filter("ip 0.0.0.0/8 any -> any any") == "ip and ip[12:4] <= 0xffffff");
    CHECK(filter("ip any any -> 2001:db8::/48 any") ==
          "ip6 and (ip6 dst net 2001:db8::/32 and ip6[28:4] <= 0xffff)");
    CHECK(filter("ip any any -> ::/3 any") == "ip6 and ip6[24:4] <= 0x1fffffff");
    CHECK(filter("ip any any -> ::/64 any") == "ip6 and ip6 dst net ::/64");
}

TEST_CASE("both directions are two filters, or one if they are equal", "[snort2sids][filter]")
{
    CHECK(filter("ip any any <> 127.0.0.0/8 any") ==
          "((ip and ip dst net 127.0.0.0/8) or (ip and ip src net 127.0.0.0/8))");
    CHECK(filter("tcp any 5101 <> any 5101") == filter("tcp any 5101 -> any 5101"));
    CHECK(filter("ip any any <> any any") == "ip or ip6");
}

TEST_CASE("equal headers have the same text, however they are written", "[snort2sids][filter]")
{
    CHECK(filter("tcp any any -> [10.0.0.0/9,10.128.0.0/9] [80,81,82]") ==
          filter("tcp any 0:65535 -> 10.9.9.9/8 80:82"));
    CHECK(filter("tcp 10.0.0.1 1 <> 10.0.0.2 2") == filter("tcp 10.0.0.2 2 <> 10.0.0.1 1"));
}

TEST_CASE("on request, a filter looks behind two VLAN tags", "[snort2sids][filter]")
{
    const Header header = read_header("alert ip any any -> any any (", Variables());
    CHECK(filter_of(header, true) ==
          "(ip or ip6) or (vlan and ((ip or ip6) or (vlan and (ip or ip6))))");
}

TEST_CASE("a header that no packet matches has no filter", "[snort2sids][filter]")
{
    CHECK(filter("tcp any any -> any [80,!80]") == "nothing");
    CHECK(filter("ip !any any -> any any") == "nothing");
    CHECK(filter("ip 10.0.0.1 any -> ::1 any") == "nothing");
    CHECK(filter("ip 10.0.0.1 any <> ::1 any") == "nothing");
}
