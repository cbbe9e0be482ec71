// SPDX-License-Identifier: MIT
#include "match/text/pattern.hpp"

#include "match/errors.hpp"
#include "support/catch.hpp"

namespace
{
using mapi::match::parse_pattern;
using mapi::match::PatternError;
using Strings = std::vector<std::string>;

int fault_of(std::string_view text)
{
    try {
        parse_pattern(text);
        return 0;
    } catch (const PatternError &error) {
        return error.code();
    }
}
} // namespace

TEST_CASE("text stands for itself", "[mapi-core][match][pattern]")
{
    CHECK(parse_pattern("GET /index.html") == Strings{"GET /index.html"});
    CHECK(parse_pattern("a\\b") == Strings{"a\\b"});
}

TEST_CASE("a hex block stands for its bytes, with or without spaces", "[mapi-core][match][pattern]")
{
    CHECK(parse_pattern("|0d 0A|") == Strings{"\r\n"});
    CHECK(parse_pattern("a|0D0a|b") == Strings{"a\r\nb"});
    CHECK(parse_pattern("| 00 01 |") == Strings{std::string("\0\1", 2)});
    CHECK(parse_pattern("|7C|") == Strings{"|"});
}

TEST_CASE("an escaped pipe is a pipe", "[mapi-core][match][pattern]")
{
    CHECK(parse_pattern("a\\|b") == Strings{"a|b"});
    CHECK(parse_pattern("\\|\\|") == Strings{"||"});
    CHECK(parse_pattern("\\||41|") == Strings{"|A"});
}

TEST_CASE("two pipes outside a hex block separate alternatives", "[mapi-core][match][pattern]")
{
    CHECK(parse_pattern("GET||POST||PUT") == Strings{"GET", "POST", "PUT"});
    CHECK(parse_pattern("|41||||42|") == Strings{"A", "B"});
    CHECK(parse_pattern("x|41||||42|y") == Strings{"xA", "By"});
    CHECK(parse_pattern("a\\|||b") == Strings{"a|", "b"});
}

TEST_CASE("inside a hex block the next pipe closes it, so two blocks in a row are one string",
          "[mapi-core][match][pattern]")
{
    CHECK(parse_pattern("|41||42|") == Strings{"AB"});
    CHECK(fault_of("|41|||42|") == 3503); // separator, then a block that is not closed
}

TEST_CASE("a hex block without its closing pipe has its own error", "[mapi-core][match][pattern]")
{
    CHECK(fault_of("|41") == 3503);
    CHECK(fault_of("abc|") == 3503);
    CHECK(fault_of("|41||42") == 3503);
}

TEST_CASE("a pattern without bytes is invalid", "[mapi-core][match][pattern]")
{
    CHECK(fault_of("") == 3505);
    CHECK(fault_of("||a") == 3505);
    CHECK(fault_of("a||") == 3505);
    CHECK(fault_of("a||||b") == 3505);
    CHECK(fault_of("| |") == 3505);
}

TEST_CASE("hex digits come in adjacent pairs", "[mapi-core][match][pattern]")
{
    CHECK(fault_of("|4|") == 3505);
    CHECK(fault_of("|414|") == 3505);
    CHECK(fault_of("|4 1|") == 3505);
    CHECK(fault_of("|4g|") == 3505);
    CHECK(fault_of("|\\|41|") == 3505);
}
