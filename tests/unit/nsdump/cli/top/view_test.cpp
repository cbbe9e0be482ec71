// SPDX-License-Identifier: MIT
#include "cli/top/view.hpp"

#include <algorithm>

#include "export/utf8.hpp"
#include "support/catch.hpp"
#include "top_fixture.hpp"

using nsdump::TopView;

namespace
{
constexpr size_t kRows = 24, kColumns = 100;

void type(TopView &view, const std::string &keys)
{
    for (const char key : keys)
        view.press(key);
}

bool shows(const TopView &view, const std::string &text)
{
    return view.frame(kRows, kColumns).find(text) != std::string::npos;
}

TopView view_of_interval()
{
    TopView view({});
    view.take(top_fixture::interval());
    return view;
}
} // namespace

TEST_CASE("the screen has one line for each of its rows", "[nsdump][top]")
{
    TopView view({});
    for (const size_t rows : {1, 4, 5, 24, 200}) {
        view.take(top_fixture::interval());
        const std::string frame = view.frame(rows, kColumns);
        const auto lines = size_t(std::count(frame.begin(), frame.end(), '\n'));
        CHECK(lines == std::max(rows, nsdump::kTopHeadLines + 1));
    }
}

TEST_CASE("keys choose the order and reverse it", "[nsdump][top]")
{
    TopView view = view_of_interval();
    CHECK(shows(view, "by time"));
    type(view, "s");
    CHECK(shows(view, "by instructions"));
    type(view, "sss");
    CHECK(shows(view, "by time"));
    type(view, "cr");
    CHECK(shows(view, "by rate, smallest first"));
    const std::string frame = view.frame(kRows, kColumns);
    CHECK(frame.find("few-long") < frame.find("many-short"));
}

TEST_CASE("a paused screen keeps its values until it continues", "[nsdump][top]")
{
    TopView view = view_of_interval();
    nsdump::TopInterval next = top_fixture::interval();
    next.live.report.slices = {top_fixture::slice("newer", 1, 1)};
    type(view, " ");
    view.take(next);
    CHECK(shows(view, "paused"));
    CHECK_FALSE(shows(view, "newer"));
    type(view, " ");
    view.take(next);
    CHECK(shows(view, "newer"));
}

TEST_CASE("a filter is typed, corrected, ended and undone", "[nsdump][top]")
{
    TopView view = view_of_interval();
    type(view, "/manq\x7fy-"); // q is a letter here
    CHECK(shows(view, "only names with: many-"));
    CHECK(shows(view, "many-short"));
    CHECK_FALSE(shows(view, "few-long"));
    type(view, "\n");
    CHECK(shows(view, "only *many-*"));
    type(view, "/xyz\x1b");
    CHECK(shows(view, "many-short"));
    CHECK_FALSE(view.wants_to_quit());
}

TEST_CASE("a filter is edited in whole characters and never cut within one", "[nsdump][top]")
{
    TopView view = view_of_interval();
    type(view, "/\u00e9\u8868\u793a\x7f");
    CHECK(view.filter() == "\u00e9\u8868");
    type(view, "\x7f\x7f\x7f");
    CHECK(view.filter().empty());
    for (int i = 0; i < 60; ++i)
        type(view, "\u8868"); // three bytes each
    CHECK(view.filter().size() == 102);
    type(view, "\x7f");
    CHECK(view.filter().size() == 99);
    type(view, "\xff\x7f"); // no character, but one key
    CHECK(view.filter().size() == 99);
}

TEST_CASE("the line of the filter is cut to the screen in whole characters", "[nsdump][top]")
{
    TopView view = view_of_interval();
    type(view, "/\u8868\u8868\u8868\u8868");
    const std::string frame = view.frame(6, 20);
    CHECK(nsdump::utf8_text(frame) == frame);
}

TEST_CASE("help covers the values until any key, and q quits", "[nsdump][top]")
{
    TopView view = view_of_interval();
    type(view, "h");
    CHECK(shows(view, "Keys of nsdump top"));
    type(view, "q");
    CHECK(shows(view, "many-short"));
    CHECK_FALSE(view.wants_to_quit());
    type(view, "q");
    CHECK(view.wants_to_quit());
}

TEST_CASE("after a program's end without further records its last values stay", "[nsdump][top]")
{
    TopView view = view_of_interval();
    nsdump::TopInterval last = top_fixture::interval();
    last.live.report.slices.clear();
    last.live.report.records = 0;
    last.has_ended = true;
    view.take(last);
    CHECK(shows(view, "many-short"));
    CHECK(shows(view, "program ended"));
}
