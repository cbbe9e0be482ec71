// SPDX-License-Identifier: MIT
// Explain: long names do not displace the reason in a message.
#include "support/catch.hpp"

#include <string>

#include <mapi/explain.h>

namespace
{
std::string explained(const std::string &text, size_t room)
{
    std::string to(room + 1, '#');
    mapi_explain(to.data(), room, text.c_str());
    CHECK(to[room] == '#'); // nothing beyond the buffer
    return room > 0 ? to.c_str() : "";
}
} // namespace

TEST_CASE("a text that fits stays as it is", "[mapi-core]")
{
    CHECK(explained("", 1).empty());
    CHECK(explained("123456789", 10) == "123456789");
}

TEST_CASE("a text that does not fit keeps its beginning and its end", "[mapi-core]")
{
    const std::string text = explained(std::string(600, 'x') + ": No such file", 64);
    CHECK(text.size() == 63);
    CHECK(text.substr(0, 4) == "xxxx");
    CHECK_THAT(text, Catch::Contains("...") && Catch::EndsWith("x: No such file"));
    CHECK(explained("0123456789", 10) == "01...6789");
}

TEST_CASE("no buffer is too small", "[mapi-core]")
{
    for (size_t room = 1; room < 12; ++room)
        CHECK(explained("a text of more than a few bytes", room).size() == room - 1);
    CHECK(explained("text", 0).empty());
}
