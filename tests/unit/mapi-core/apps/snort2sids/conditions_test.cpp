// SPDX-License-Identifier: MIT
// conditions: flow, flowbits, threshold and detection_filter.
#include "support/catch.hpp"

#include "body/conditions.hpp"
#include "refused_at.hpp"

using namespace snort2sids;

namespace
{
Option option(const std::string &name, const std::string &value)
{
    return {name, value, true, 0, 100};
}

Flow flow(const std::string &value)
{
    return read_flow(option("flow", value));
}

Flowbits bits(const std::string &value)
{
    return read_flowbits(option("flowbits", value));
}

std::string rate(const std::string &name, const std::string &value)
{
    return rate_value(option(name, value));
}
} // namespace

TEST_CASE("flow has a state, a direction and kinds of packets", "[snort2sids][conditions]")
{
    CHECK(flow("To_Server , established").state == "established");
    CHECK(flow("to_server,established").direction == "to_server");
    CHECK(flow("established,no_stream").is_raw_only);
    CHECK(flow("no_frag").is_raw_only);
    CHECK(flow("only_stream").is_rebuilt_only);
    CHECK(refused_at([] { flow("established,stateless"); }).offset == 112);
    CHECK(refused_at([] { flow("established,,"); }).offset == 112);
    CHECK(refused_at([] { flow("open"); }).what == "malformed flow: \"open\" is unknown");
    CHECK(refused_at([] { flow("only_stream,no_stream"); }).offset == 100);
    CHECK(refused_at([] { flow("only_frag"); }).reason.starts_with("flow: only_frag"));
}

TEST_CASE("flowbits are tests or actions", "[snort2sids][conditions]")
{
    CHECK(bits("isset, a&b").value == "isset,a&b");
    CHECK(bits("isset,a|b").is_test);
    CHECK(bits("isnotset,ET.x").is_test);
    CHECK_FALSE(bits("set,a").is_test);
    CHECK(bits("setx,a,group").value == "setx,a,group");
    CHECK(bits("noalert").value == "noalert");
    CHECK(bits("reset,group").value == "reset,group");
    for (const char *const wrong :
         {"set", "set,a|b", "isset,a&b|c", "isset,&a", "isset,a&", "isset,a b", "setx,a",
          "noalert,a", "reset,a,b", "toggle,a,b,c", "clear,a", ""})
        CHECK(refused_at([&] { bits(wrong); }).reason == "malformed flowbits");
}

TEST_CASE("rates have their parts in one order", "[snort2sids][conditions]")
{
    CHECK(rate("threshold", "seconds 60,count 5, type  limit , track by_src") ==
          "type limit, track by_src, count 5, seconds 60");
    CHECK(rate("detection_filter", "track by_dst, count 1, seconds 9") ==
          "track by_dst, count 1, seconds 9");
    for (const char *const wrong :
         {"type limit, track by_src, count 5", "type limit, track by_src, count 0, seconds 1",
          "type limit, track by_src, count 5, seconds 1, count 5",
          "type other, track by_src, count 5, seconds 1",
          "type limit, track by_port, count 5, seconds 1",
          "type limit, track by_src, count, seconds 1"})
        CHECK(refused_at([&] { rate("threshold", wrong); }).reason == "malformed threshold");
    CHECK(refused_at([] {
              rate("detection_filter", "type limit, track by_src, count 5, seconds 1");
          }).offset == 100);
}
