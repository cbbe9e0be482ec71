// SPDX-License-Identifier: MIT
#include "export/escape.hpp"

#include "support/catch.hpp"

TEST_CASE("names in a trace cannot corrupt CSV, JSON or a terminal", "[nsdump][escape]")
{
    CHECK(nsdump::csv_field("plain") == "plain");
    CHECK(nsdump::csv_field("a,b") == "\"a,b\"");
    CHECK(nsdump::csv_field("say \"x\"\n") == "\"say \"\"x\"\"\n\"");
    CHECK(nsdump::json_string("a\"b\n") == "\"a\\\"b\\n\"");
    CHECK(nsdump::json_string("\xff") == "\"\xef\xbf\xbd\"");
    CHECK(nsdump::printable("rx\x1b[2J\xff") == "rx\\x1b[2J\\xff");
}
