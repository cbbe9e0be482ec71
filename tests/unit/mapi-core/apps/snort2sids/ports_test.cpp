// SPDX-License-Identifier: MIT
// ports: numbers, ranges and lists -> the ports meant.
#include "support/catch.hpp"

#include "header/ports.hpp"
#include "malformed_at.hpp"

using namespace snort2sids;

TEST_CASE("ports are single, ranges with one or two ends, or lists", "[snort2sids][ports]")
{
    CHECK(read_ports("any").is_full());
    CHECK(read_ports("80") == PortSet(80, 80));
    CHECK(read_ports("010") == PortSet(10, 10));
    CHECK(read_ports(":1023") == PortSet(0, 1023));
    CHECK(read_ports("1024:") == PortSet(1024, 65535));
    CHECK(read_ports("1:65535") == PortSet(1, 65535));
    CHECK(read_ports("[80,8080:8090,81]") == PortSet::of({{80, 81}, {8080, 8090}}));
}

TEST_CASE("negated ports are taken out of the others", "[snort2sids][ports]")
{
    CHECK(read_ports("!80") == PortSet::of({{0, 79}, {81, 65535}}));
    CHECK(read_ports("!21:23") == PortSet::of({{0, 20}, {24, 65535}}));
    CHECK(read_ports("[1:100,!80]") == PortSet::of({{1, 79}, {81, 100}}));
    CHECK(read_ports("![80,443]") == PortSet::of({{0, 79}, {81, 442}, {444, 65535}}));
    CHECK(read_ports("!![80,443]") == PortSet::of({{80, 80}, {443, 443}}));
    CHECK(read_ports("!any").is_empty());
}

TEST_CASE("an error of ports has its place", "[snort2sids][ports]")
{
    const auto at = [](const char *text) { return malformed_at([&] { read_ports(text); }).offset; };
    CHECK(at("http") == 0);
    CHECK(at("65536") == 0);
    CHECK(at("99999999999999999999") == 0);
    CHECK(at("80:http") == 3);
    CHECK(at("90:80") == 0);
    CHECK(at(":") == 0);
    CHECK(at("[80,-1]") == 4);
    CHECK(at("!") == 1);
}
