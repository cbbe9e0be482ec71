// SPDX-License-Identifier: MIT
// option: the body of a rule -> its options with their places.
#include "support/catch.hpp"

#include "body/option.hpp"
#include "malformed_at.hpp"

using namespace snort2sids;

TEST_CASE("options end at a ; that is not escaped", "[snort2sids][option]")
{
    const std::string text = R"(x ( Msg : "a\;b\\"; nocase;; content:!"|3a|" ;) )";
    const auto options = split_options(text, 2);
    REQUIRE(options.size() == 3);
    CHECK(options[0].name == "msg");
    CHECK(options[0].value == R"("a\;b\\")");
    CHECK(text.substr(options[0].value_offset).starts_with("\"a"));
    CHECK(options[1].name == "nocase");
    CHECK_FALSE(options[1].has_value);
    CHECK(options[2].value == "!\"|3a|\"");
    CHECK(text.substr(options[2].name_offset).starts_with("content"));
}

TEST_CASE("a name ends before the next option", "[snort2sids][option]")
{
    const auto options = split_options("(nocase; depth:3;)", 0);
    REQUIRE(options.size() == 2);
    CHECK(options[0].name == "nocase");
    CHECK(options[1].value == "3");
}

TEST_CASE("an error of a body has its place", "[snort2sids][option]")
{
    const auto error = [](const std::string &text) {
        return malformed_at([&] { split_options(text, 0); });
    };
    CHECK(error("(sid:1;").offset == 7);
    CHECK(error("(").offset == 1);
    CHECK(error("(sid:1)").offset == 6);
    CHECK(error("(sid:1;nocase)").what == "\";\" is missing after the last option");
    CHECK(error("(sid:1\\;)").offset == 8);
    CHECK(malformed_at([&] { split_options("alert", 5); }).offset == 5);
    CHECK(split_options("()", 0).empty());
}
