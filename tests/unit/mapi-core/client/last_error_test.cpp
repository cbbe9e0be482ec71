// SPDX-License-Identifier: MIT
// Last error: its number and text.
#include "support/catch.hpp"

#include <stdexcept>
#include <string>

#include "client/errors/last_error.hpp"

using mapi::client::guard;
using mapi::client::set_last_error;
using mapi::client::take_last_error;

namespace
{
struct Taken {
    int number = 0;
    std::string text;
};

Taken take()
{
    Taken taken;
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    REQUIRE(take_last_error(&taken.number, text));
    taken.text = text;
    return taken;
}
} // namespace

TEST_CASE("the text of an error is that of the call, or else the general one of its number",
          "[mapi-core][client]")
{
    set_last_error(PCAP_BPF_ERR, "BPF_FILTER: filter \"x\": syntax error");
    Taken taken = take();
    CHECK(taken.number == 1025);
    CHECK(taken.text == "BPF_FILTER: filter \"x\": syntax error");
    set_last_error(MAPI_TIMED_OUT, "");
    taken = take();
    CHECK(taken.number == 6159);
    CHECK(taken.text == "Timed out");
    constexpr int kOfPlugin = 12345; // has no general text
    set_last_error(kOfPlugin, "");
    taken = take();
    CHECK(taken.number == kOfPlugin);
    CHECK(taken.text.empty());
    CHECK_FALSE(take_last_error(nullptr, nullptr));
}

TEST_CASE("an exception becomes the error of its call", "[mapi-core][client]")
{
    CHECK(guard(-1, []() -> int { throw mapi::Error(MAPI_CONFIG_ERROR, "x: wrong"); }) == -1);
    Taken taken = take();
    CHECK(taken.number == MAPI_CONFIG_ERROR);
    CHECK(taken.text == "x: wrong");
    CHECK(guard(-1, []() -> int { throw std::logic_error("impossible"); }) == -1);
    taken = take();
    CHECK(taken.number == MAPI_INTERNAL_ERROR);
    CHECK(taken.text == "internal error: impossible");
}
