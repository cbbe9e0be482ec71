// SPDX-License-Identifier: MIT
// header: the head of a rule -> its parts.
#include "support/catch.hpp"

#include "header/header.hpp"
#include "malformed_at.hpp"

using namespace snort2sids;

namespace
{
Header read(const std::string &text)
{
    Variables variables;
    variables.define("HOME_NET", "[10.0.0.0/8, 192.168.0.0/16]");
    variables.define("BAD", "[10.0.0.0/8,ten]");
    return read_header(text, variables);
}
} // namespace

TEST_CASE("a header has action, protocol and two sides", "[snort2sids][header]")
{
    const Header header = read("alert tcp $HOME_NET 1024: -> any [80, 8080] (sid:1;)");
    CHECK(header.action == "alert");
    CHECK(header.protocol == Protocol::kTcp);
    CHECK(header.from.addresses == read_addresses("[10.0.0.0/8,192.168.0.0/16]"));
    CHECK(header.from.ports == read_ports("1024:"));
    CHECK(header.to.addresses.is_any());
    CHECK(header.to.ports == read_ports("[80,8080]"));
    CHECK_FALSE(header.is_bidirectional);
    CHECK(header.body == 44);
}

TEST_CASE("<- is -> with the sides exchanged, <> is both", "[snort2sids][header]")
{
    const Header back = read("alert udp 10.0.0.1 53 <- 10.0.0.2 99 (");
    const Header forth = read("alert udp 10.0.0.2 99 -> 10.0.0.1 53 (");
    CHECK(back.from == forth.from);
    CHECK(back.to == forth.to);
    CHECK(read("alert udp any any <> any 53 (").is_bidirectional);
}

TEST_CASE("ports of ip and icmp have no effect, as in Snort 2.9", "[snort2sids][header]")
{
    const Header header = read("alert ip any !80 -> any any (");
    CHECK(header.has_ignored_ports);
    CHECK(header.from.ports.is_full());
    CHECK_FALSE(read("alert icmp any any -> any any (").has_ignored_ports);
    CHECK_FALSE(read("alert tcp any 80 -> any any (").has_ignored_ports);
}

TEST_CASE("a negation may stand apart from what it negates", "[snort2sids][header]")
{
    CHECK(read("alert tcp ! 10.0.0.0/8 any -> any any(").from.addresses ==
          read_addresses("!10.0.0.0/8"));
    CHECK(read("alert tcp any any -> any any(").body == 28);
}

TEST_CASE("an error of a header has its place and says what is missing", "[snort2sids][header]")
{
    const auto error = [](const char *text) { return malformed_at([&] { read(text); }); };
    CHECK(error("alert").what == "a protocol is missing");
    CHECK(error("alert tcp any any -> any (sid:1;)").what == "a destination port is missing");
    CHECK(read("alert TCP any any -> any any (").protocol == Protocol::kTcp);
    CHECK(error("alert sctp any any -> any any (").offset == 6);
    CHECK(error("alert tcp any any => any any (").offset == 18);
    CHECK(error("alert tcp 10.0.0.300 any -> any any (").offset == 10);
    CHECK(error("alert tcp [10.0.0.1,x] any -> any any (").offset == 20);
    CHECK(error("alert tcp any any -> $NO any (").offset == 21);
    const MalformedAt inside = error("alert tcp any any -> $BAD any (");
    CHECK(inside.offset == 21);
    CHECK(inside.what == "variable BAD: \"ten\" is not an IP address, in \"[10.0.0.0/8,ten]\"");
    for (const char *const text :
         {"alert tcp !$BAD any -> any any (", "alert tcp [$HOME_NET,$(BAD)] any -> any any ("})
        CHECK(error(text).what == inside.what);
    CHECK(error("alert tcp [$HOME_NET,x] any -> any any (").what ==
          "\"x\" is not an IP address, in \"[[10.0.0.0/8, 192.168.0.0/16],x]\"");
    CHECK(error("alert tcp any any -> any any sid:1;").what ==
          "\"(\" is missing before the options");
}
