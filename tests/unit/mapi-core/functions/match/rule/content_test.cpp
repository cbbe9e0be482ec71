// SPDX-License-Identifier: MIT
// Contents and expressions: where they may lie, relative ones, and what is tried again.
#include "support/catch.hpp"

#include "rule_packet.hpp"

using mapi::match::rule::Verdict;
using rule_test::Bytes;
using rule_test::matches;

TEST_CASE("offset and depth bound the whole content", "[match][rule]")
{
    CHECK(matches("content:\"cd\"; offset:2; depth:2;", "abcdef"));
    CHECK_FALSE(matches("content:\"cd\"; offset:3;", "abcdef"));
    CHECK_FALSE(matches("content:\"cd\"; depth:3;", "abcdef"));
    CHECK(matches("content:\"cd\"; offset:-1; depth:5;", "abcdef"));
    CHECK_FALSE(matches("content:\"CD\";", "abcdef"));
    CHECK(matches("content:\"CD\"; nocase;", "abcdef"));
}

TEST_CASE("distance and within count from the end of the content before", "[match][rule]")
{
    CHECK(matches("content:\"ab\"; content:\"ef\"; distance:2; within:2;", "abcdef"));
    CHECK_FALSE(matches("content:\"ab\"; content:\"ef\"; distance:3;", "abcdef"));
    CHECK_FALSE(matches("content:\"ab\"; content:\"ef\"; within:3;", "abcdef"));
    CHECK(matches("content:\"ef\"; content:\"ab\"; distance:-6; within:2;", "abcdef"));
    CHECK(matches("content:\"ef\"; content:\"ab\";", "abcdef"));
}

TEST_CASE("an earlier content is tried at its next occurrence if a relative one fails",
          "[match][rule]")
{
    CHECK(matches("content:\"a\"; content:\"b\"; distance:0; within:1;", "acab"));
    CHECK(matches("content:\"aa\"; content:\"b\"; distance:0; within:1;", "aaab"));
    CHECK(matches("content:\"a\"; content:\"b\"; within:2; content:\"c\"; within:1;", "abxaxbc"));
    CHECK(matches("content:\"a\"; byte_test:1,>,8,0,relative,string;", "a1 a9"));
    CHECK(matches("pcre:\"/a./\"; content:\"z\"; within:1;", "a1ya2z"));
    CHECK(matches("content:\"a\"; isdataat:!0,relative;", "ab a"));
    CHECK_FALSE(matches("content:\"a\"; depth:2; content:\"b\"; within:1;", "acab"));
}

TEST_CASE("a negated content matches where it could be, and is not", "[match][rule]")
{
    CHECK(matches("content:!\"x\";", "abc"));
    CHECK_FALSE(matches("content:!\"b\";", "abc"));
    CHECK(matches("content:!\"a\"; offset:1;", "abc"));
    CHECK_FALSE(matches("content:!\"x\";", "")); // there is nothing to search
    CHECK_FALSE(matches("content:!\"x\"; offset:9;", "abc"));
    CHECK(matches("content:\"bc\"; content:!\"x\"; distance:0;", "abc")); // at the very end
    CHECK(matches("content:\"a\"; content:!\"x\"; within:2;", "abcx"));
}

TEST_CASE("a negated absolute content resets the cursor", "[match][rule]")
{
    CHECK(matches("content:\"c\"; content:!\"x\"; content:\"a\"; distance:0;", "abc"));
    CHECK_FALSE(
        matches("content:\"c\"; content:!\"x\"; within:1; content:\"a\"; distance:0;", "abcd"));
}

TEST_CASE("an expression is matched with the payload, or from the cursor on", "[match][rule]")
{
    CHECK(matches("pcre:\"/^ab+c$/\";", "abbbc"));
    CHECK_FALSE(matches("pcre:\"/AB/\";", "abbbc"));
    CHECK(matches("pcre:\"/AB/i\";", "abbbc"));
    CHECK(matches("content:\"ab\"; pcre:\"/^c/R\";", "abc"));
    CHECK_FALSE(matches("content:\"ab\"; pcre:\"/^b/R\";", "abc"));
    CHECK(matches("pcre:!\"/x/\";", "abc"));
    CHECK_FALSE(matches("pcre:!\"/x/\";", ""));
    CHECK_FALSE(matches("content:\"c\"; pcre:!\"/x/R\";", "abc")); // nothing is left
}

TEST_CASE("a rule that takes too many steps is given up", "[match][rule]")
{
    const std::string payload(1400, 'a');
    std::string options = "content:\"a\";";
    for (int i = 0; i < 8; ++i)
        options += "content:\"a\"; within:900;";
    CHECK(rule_test::verdict(options + "content:\"b\"; within:1;", rule_test::tcp(payload)) ==
          Verdict::kGivenUp);
    CHECK(rule_test::verdict("pcre:\"/(a*)*(a*)*(a*)*(a*)*b$/\";", rule_test::tcp(payload)) !=
          Verdict::kMatch);
    CHECK(rule_test::verdict("content:\"a\"; content:\"a\"; distance:0; content:\"b\"; distance:0;",
                             rule_test::tcp(payload)) == Verdict::kNoMatch);
}

TEST_CASE("a rule is given up after about ten searches by an expression that are hard",
          "[match][rule]")
{
    // Each search takes less than 100,000 steps of PCRE2, so it does not fail by itself.
    const auto verdict_after = [](int searches) {
        std::string payload;
        for (int i = 0; i < searches; ++i)
            payload += "x" + std::string(50, 'a');
        return rule_test::verdict("pcre:\"/x/\"; pcre:\"/^a*a*a*a*[cd]/R\";",
                                  rule_test::tcp(payload));
    };
    CHECK(verdict_after(5) == Verdict::kNoMatch);
    CHECK(verdict_after(20) == Verdict::kGivenUp);
}

TEST_CASE("easy searches by an expression do not let a rule be given up", "[match][rule]")
{
    const std::string payload(1400, 'a');
    CHECK(rule_test::verdict("pcre:\"/a./\"; content:\"z\"; within:1;", rule_test::tcp(payload)) ==
          Verdict::kNoMatch);
}

TEST_CASE("a rule that decodes much text again and again is given up", "[match][rule]")
{
    const std::string options = " base64_decode:relative; base64_data; isdataat:60000;";
    const Bytes frame = rule_test::tcp(std::string(60000, 'a'));
    CHECK(rule_test::verdict("content:\"a\"; depth:1;" + options, frame) == Verdict::kNoMatch);
    CHECK(rule_test::verdict("content:\"a\"; depth:300;" + options, frame) == Verdict::kGivenUp);
}
