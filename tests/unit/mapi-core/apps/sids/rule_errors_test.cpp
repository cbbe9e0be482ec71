// SPDX-License-Identifier: MIT
#include "rules.hpp"

using namespace sids_test;

TEST_CASE("an error shows the place in the file, the line and a caret", "[sids]")
{
    CHECK(errors_of("# a comment\n\ncount tcp; id:x;\n") ==
          "t.rules:3:15: \"id\" is a number from 1 to 4294967295\n"
          "  count tcp; id:x;\n"
          "                ^\n");
    CHECK(errors_of("  alert tcp; id:1;") ==
          "t.rules:1:3: unknown action \"alert\": count or copy (snort2sids(1) converts rules of "
          "Snort)\n"
          "  alert tcp; id:1;\n"
          "  ^\n");
}

TEST_CASE("the place of an error is right in a rule of several lines", "[sids]")
{
    CHECK(errors_of("count tcp; \\\n  content:x; \\\r\n\tid:0;\r\n") ==
          "t.rules:3:5: \"id\" is a number from 1 to 4294967295\n"
          "   id:0;\n"
          "      ^\n");
}

TEST_CASE("a caret is right below unprintable bytes and in a long line", "[sids]")
{
    CHECK(errors_of("count; msg:\"\xc3\xa4\x1b\"; id:x;") ==
          "t.rules:1:22: \"id\" is a number from 1 to 4294967295\n"
          "  count; msg:\"\\xc3\\xa4\\x1b\"; id:x;\n" +
              std::string(2 + 30, ' ') + "^\n");
    const std::string text = errors_of("count; msg:\"" + std::string(300, 'a') + "\"; id:x; " +
                                       std::string(300, ' ') + "rev:1;");
    CHECK_THAT(text, Catch::Contains("t.rules:1:319: ") &&
                         Catch::Contains("  ..." + std::string(54, 'a') + "\"; id:x; ") &&
                         Catch::Contains("...\n" + std::string(2 + 63, ' ') + "^\n"));
}

TEST_CASE("what is wrong in a rule is named where it is", "[sids]")
{
    const auto check = [](const std::string &rule, size_t column, const std::string &message) {
        INFO(rule);
        CHECK_THAT(errors_of(rule),
                   Catch::StartsWith("t.rules:1:" + std::to_string(column) + ": " + message));
    };
    check("; id:1;", 1, "a rule begins with its action");
    check("count tcp", 10, "a ; is missing after the filter");
    check("count tcp; content:x;", 1, "the rule has no id");
    check("count tcp; id:1", 16, "a ; is missing at the end of the option");
    check("count tcp; id 1;", 15, "a ; or a : is expected after \"id\"");
    check("count tcp; id:;", 15, "\"id\" has no value");
    check("count tcp; id;", 14, "\"id\" requires a value");
    check("count tcp; id:1; id:2;", 18, "the rule has two options \"id\"");
    check("count tcp; id:4294967296;", 15, "\"id\" is a number from 1 to");
    check("count tcp; id:-1;", 15, "\"id\" is a number");
    check("count tcp; id:1; rev:1x;", 22, "\"rev\" is a number from 0 to");
    check("count tcp; id:1; ; rev:1;", 18, "the name of an option is expected, not \";\"");
    check("count tcp; id:1; msg:\"a;", 22, "the quotation mark is not closed");
    check("count tcp; id:1; cooked:1;", 25, "\"cooked\" has no value");
    check("count tcp; id:1; flow:a; flow:b;", 26, "the rule has two options \"flow\"");
    check("count tcp; id:1; msg:" + std::string(1025, 'a') + ";", 22, "\"msg\" has more than 1024");
    check(std::string("count tcp; id:1; content:a\0b;", 29), 27, "a rule contains no byte 0");
}

TEST_CASE("all errors are listed, at most 20", "[sids]")
{
    const std::string text = errors_of([] {
        std::string rules;
        for (int i = 0; i < 25; ++i)
            rules += "count; id:x;\ncount; id:" + std::to_string(i + 1) + ";\n";
        return rules;
    }());
    CHECK_THAT(text, Catch::Contains("t.rules:1:11: ") && Catch::Contains("t.rules:39:11: ") &&
                         !Catch::Contains("t.rules:41:") && Catch::EndsWith("and 5 more errors\n"));
}

TEST_CASE("the second rule of an id is refused with the place of the first", "[sids]")
{
    CHECK_THAT(errors_of("count; id:5;\n\ncount udp; id: 5;\n"),
               Catch::StartsWith("t.rules:3:16: another rule has id 5: t.rules:1\n"));
}

TEST_CASE("a line and the number of rules have a limit", "[sids]")
{
    CHECK_THAT(errors_of("count; id:1; content:" + std::string(70000, 'a') + ";"),
               Catch::StartsWith("t.rules:1:1: the rule has more than 65535 bytes"));
    std::string rules;
    for (size_t i = 1; i <= sids::kRulesMost + 2; ++i)
        rules += "count;id:" + std::to_string(i) + ";\n";
    const std::string text = errors_of(rules);
    CHECK_THAT(text, Catch::StartsWith("t.rules:32768:1: there are more than 32767 rules"));
    CHECK_THAT(text, !Catch::Contains("65536"));
}
