// SPDX-License-Identifier: MIT
// line: files -> lines and the places of their letters.
#include "support/catch.hpp"

#include "snort2sids/source/line.hpp"

using namespace snort2sids;

TEST_CASE("lines are joined at a \\ and keep the places of their letters", "[snort2sids][line]")
{
    Lines lines("web.rules", "\xef\xbb\xbf one \r\n\ttwo \\\r\n   three\\\nfour\n# no \\\nfive");
    CHECK(lines.next()->text == "one");
    const auto joined = lines.next();
    CHECK(joined->text == "two threefour");
    CHECK(joined->place(0).name() == "web.rules:2:2");
    CHECK(joined->place(4).name() == "web.rules:3:4");
    CHECK(joined->place(9).name() == "web.rules:4:1");
    CHECK(lines.next()->text == "# no \\");
    CHECK(lines.next()->text == "five");
    CHECK_FALSE(lines.next());
}

TEST_CASE("a caret is below its letter, also in a long line and after tabs and control characters",
          "[snort2sids][line]")
{
    CHECK(Place{"f", 1, 3, "ab\tcd"}.caret() == "  ab cd\n    ^");
    CHECK(Place{"f", 1, 3,
                "a\x01"
                "b"}
              .caret() == "  a\\x01b\n       ^");
    const std::string shown =
        Place{"f", 1, 501, std::string(500, 'a') + "X" + std::string(500, 'b')}.caret();
    const size_t end = shown.find('\n');
    CHECK(end < 110);
    CHECK(shown.find('X') == shown.find('^') - end - 1);
    CHECK(Place{"f", 1, 9, "ab"}.caret() == "  ab\n    ^");
}

TEST_CASE("a file that cannot be read is an error with the cause", "[snort2sids][line]")
{
    CHECK_THROWS_WITH(Lines("/nowhere/x.rules"), Catch::Matchers::Contains("No such file"));
    CHECK_THROWS_WITH(Lines("/"), Catch::Matchers::Contains("directory"));
}
