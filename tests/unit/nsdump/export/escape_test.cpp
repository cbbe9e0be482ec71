// SPDX-License-Identifier: MIT
#include "export/escape.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "export/utf8.hpp"
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

TEST_CASE("bytes that are not UTF-8 become U+FFFD, once for each part of a character",
          "[nsdump][escape]")
{
    const std::pair<std::string, std::string> cases[] = {
        {"caf\u00e9 \u20ac \U0001f600", "caf\u00e9 \u20ac \U0001f600"},
        {"a\xff", "a\ufffd"},
        {"\xe2\x82", "\ufffd"}, // all but the last byte
        {"\xe2\x82z", "\ufffdz"},
        {"\xf0\x9f\x98(", "\ufffd("},
        {"\xe0\x80\x80", "\ufffd\ufffd\ufffd"},           // not the shortest form
        {"\xc0\xaf", "\ufffd\ufffd"},                     // the same
        {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},           // a surrogate
        {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"}, // above U+10FFFF
        {"\xf0\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
        {"\x80\x80", "\ufffd\ufffd"},
    };
    for (const auto &[text, repaired] : cases) {
        CAPTURE(repaired);
        CHECK(nsdump::utf8_text(text) == repaired);
        // The reports are written by nlohmann's dump().
        using Json = nlohmann::json;
        const std::string dumped = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
        CHECK(Json::parse(dumped).get<std::string>() == repaired);
    }
}

TEST_CASE("files have the same name in each format, also if it is not UTF-8", "[nsdump][escape]")
{
    const std::string name = "rx\xe2\x82";
    CHECK(nsdump::csv_field(name) == "rx\ufffd");
    CHECK(nsdump::json_string(name) == "\"rx\ufffd\"");
    CHECK(nsdump::printable_utf8(name) == "rx\ufffd");
    CHECK(nsdump::xml_text(name) == "rx\ufffd");
    CHECK(nsdump::printable_utf8("rx\x1b\xff") == "rx\\x1b\ufffd");
}
