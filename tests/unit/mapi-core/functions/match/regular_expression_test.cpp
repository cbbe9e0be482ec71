// SPDX-License-Identifier: MIT
// Regular expressions over packets: PCRE's syntax over bytes, and invalid patterns that are refused
// with a reason.
#include "match/text/regular_expression.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "few_strings.hpp"
#include "match/errors.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"

namespace
{
using mapi::match::PatternError;
using mapi::match::RegularExpression;
using namespace std::string_literals;

// Which of up to 64 packets match.
uint64_t matches(const std::string &pattern, const std::vector<std::string> &texts,
                 uint64_t mask = ~uint64_t{0})
{
    std::vector<mapi_packet> packets;
    for (const std::string &text : texts) {
        mapi_packet packet{};
        packet.data = reinterpret_cast<const uint8_t *>(text.data());
        packet.caplen = packet.wire_len = uint32_t(text.size());
        packets.push_back(packet);
    }
    const uint64_t all = (uint64_t{1} << texts.size()) - 1;
    return RegularExpression::compile(pattern)->filter(packets.data(), mask & all);
}

std::string refusal_of(const std::string &pattern)
{
    try {
        RegularExpression::compile(pattern);
        return "";
    } catch (const PatternError &error) {
        return error.what();
    }
}

bool can_search()
{
    if (refusal_of("a").empty())
        return true;
    test_support::skip(refusal_of("a"));
    return false;
}
} // namespace

TEST_CASE("an expression is searched for anywhere in the bytes, line by line", "[match]")
{
    if (!can_search())
        return;
    CHECK(matches("HTTP.*OK", {"HTTP/1.1 200 OK", "HTTP/1.1 404\nOK", "GET / HTTP/1.1 OKAY",
                               "http ok", ""}) == 0b00101);
    CHECK(matches("(?s)HTTP.*OK", {"HTTP/1.1 404\nOK"}) == 1);
    CHECK(matches("(?i)http.*ok", {"HTTP ok"}) == 1);
    CHECK(matches("^GET", {"GET /", "x GET /"}) == 1);
    CHECK(matches("\\x00\\xff[\\x80-\\x9f]", {"a\0\xff\x85"s, "a\0\xff\xa0"s}) == 1);
}

TEST_CASE("packets outside the mask are not searched", "[match]")
{
    if (can_search())
        CHECK(matches("a", {"a", "a", "b", "a"}, 0b1110) == 0b1010);
}

TEST_CASE("an expression that matches the empty string matches every packet", "[match]")
{
    if (can_search())
        CHECK(matches("x*", {"", "abc"}) == 0b11);
}

TEST_CASE("an expression that is invalid or unsupported is refused with the reason", "[match]")
{
    if (!can_search())
        return;
    CHECK(refusal_of("(abc").find("parenthes") != std::string::npos);
    CHECK(refusal_of("(a)\\1") != "");
    CHECK(refusal_of("a(?=b)") != "");
}

TEST_CASE("one of few alternatives is found wherever it and the packet end, also with an anchor",
          "[match]")
{
    if (!can_search())
        return;
    match_test::FewStrings few;
    for (int round = 0; round < 200; ++round) {
        const std::vector<std::string> strings = few.strings(2);
        std::string pattern;
        for (const std::string &text : strings)
            pattern += (pattern.empty() ? "" : "|") + text;
        std::vector<std::string> texts(60);
        for (std::string &text : texts)
            text = few.text_with(strings);
        INFO(pattern);
        REQUIRE(matches(pattern, texts) == (uint64_t{1} << texts.size()) - 1);
    }
    CHECK(matches("ab$", {"ab", "abc", "xab\n", "ab\0"s}) == 0b0101);
    CHECK(matches("a\\x00", {"a", "a\0"s}) == 0b10);
    CHECK(matches("a.", {"a", "ab"}) == 0b10);
}
