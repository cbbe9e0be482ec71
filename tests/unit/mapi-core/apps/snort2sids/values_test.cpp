// SPDX-License-Identifier: MIT
// values: the values of contents, regular expressions, texts and numbers.
#include "support/catch.hpp"

#include "body/values.hpp"
#include "refused_at.hpp"

using namespace snort2sids;

namespace
{
Option option(const std::string &name, const std::string &value)
{
    return {name, value, true, 0, 0};
}

std::string content(const std::string &value)
{
    return content_value(option("content", value)).value;
}

size_t wrong_content(const std::string &value)
{
    return refused_at([&] { content(value); }).offset;
}
} // namespace

TEST_CASE("contents with equal bytes have one text", "[snort2sids][values]")
{
    CHECK(content(R"("/bin/perl.exe")") == R"("/bin/perl.exe")");
    CHECK(content(R"("a|3B|b|20|c")") == R"("a|3B|b c")");
    CHECK(content(R"("a\;b\"c\\d\:e\|f")") == R"("a|3B|b|22|c|5C|d:e|7C|f")");
    CHECK(content(R"("|61 62|c|0D0a|")") == R"("abc|0D 0A|")");
    CHECK(content(R"(! "|ff|")") == R"(!"|FF|")");
    CHECK(content("\"\xc3\xa9\"") == "\"|C3 A9|\"");
}

TEST_CASE("a malformed content is refused at its place", "[snort2sids][values]")
{
    CHECK(wrong_content("bare") == 0);
    CHECK(wrong_content("!bare") == 1);
    CHECK(wrong_content("\"open") == 5);
    CHECK(wrong_content("\"open\\\"") == 7);
    CHECK(wrong_content("\"\"") == 1);
    CHECK(wrong_content("\"a|6|\"") == 3);
    CHECK(wrong_content("\"a|61\"") == 5);
    CHECK(wrong_content("\"a|6g|\"") == 3);
    CHECK(wrong_content("\"a\" b") == 4);
    CHECK(wrong_content("\"a\",") == 4);
}

TEST_CASE("modifiers after commas become options of their own", "[snort2sids][values]")
{
    const Content found = content_value(option("content", R"("a", Offset 3 ,nocase)"));
    REQUIRE(found.modifiers.size() == 2);
    CHECK(found.modifiers[0].name == "offset");
    CHECK(found.modifiers[0].value == "3");
    CHECK(found.modifiers[1].name == "nocase");
    CHECK_FALSE(found.modifiers[1].has_value);
}

TEST_CASE("a regular expression keeps its text and has / around it", "[snort2sids][values]")
{
    const auto pcre = [](const std::string &value) { return pcre_value(option("pcre", value)); };
    CHECK(pcre(R"("/a\/b\;c\d/iR")") == R"("/a\/b\;c\d/iR")");
    CHECK(pcre(R"(!"/^a$/smi")") == R"(!"/^a$/smi")");
    CHECK(pcre(R"("m#a/b\#c#i")") == R"("/a\/b\#c/i")");
    CHECK(pcre(R"("/a"b[/]/")") == R"("/a\x22b[\/]/")");
    const auto wrong = [&](const std::string &value) {
        return refused_at([&] { pcre(value); }).offset;
    };
    CHECK(wrong("/a/") == 0);
    CHECK(wrong("\"a\"") == 1);
    CHECK(wrong("\"/a\"") == 1);
    CHECK(wrong("\"/a/iZ\"") == 5);
    CHECK(wrong("\"/a/") == 4);
    CHECK(wrong(R"("m#\Qa#")") == 1);
}

TEST_CASE("a message keeps its letters", "[snort2sids][values]")
{
    const auto text = [](const std::string &value) { return text_value(option("msg", value)); };
    CHECK(text(R"("a\;b\:c \"d\" \\e")") == R"("a;b:c \"d\" \\e")");
    CHECK(text("bare words") == "\"bare words\"");
    CHECK(text("\"a\tb\"") == "\"a b\"");
    CHECK(bare_value(option("reference", R"(url,a\;b"c)")) == R"(url,a\;b\"c)");
    CHECK(bare_value(option("reference", "a\\")) == "a\\\\");
}

TEST_CASE("other values lose their spaces and must fit", "[snort2sids][values]")
{
    CHECK(plain_value(option("x", " 4 , > , 1000 ,post_offset  -3"), ".*") ==
          "4,>,1000,post_offset -3");
    CHECK(refused_at([] { plain_value(option("depth", "1x"), "[0-9]+"); }).what ==
          "malformed depth: \"1x\"");
    CHECK(refused_at([] {
              plain_value(option("depth", std::string(5000, '1')), "[0-9]+");
          }).offset == 0);
    CHECK(number_value(option("rev", "007"), 0) == "7");
    for (const char *const wrong : {"", "0", "-1", "1.5", "4294967296", "99999999999999999999"})
        CHECK(refused_at([&] { number_value(option("sid", wrong), 1); }).offset == 0);
}
