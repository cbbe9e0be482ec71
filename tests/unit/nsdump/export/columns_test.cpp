// SPDX-License-Identifier: MIT
#include "export/columns.hpp"

#include "support/catch.hpp"

using nsdump::cut_to;

TEST_CASE("a text that does not fit is cut after a whole character, with a mark",
          "[nsdump][columns]")
{
    CHECK(cut_to("lookup", 6, "~") == "lookup");
    CHECK(cut_to("lookup", 5, "~") == "look~");
    CHECK(cut_to("lookup", 5, "...") == "lo...");
    CHECK(cut_to("sch\u00f6n", 4, "~") == "sch~");
    CHECK(cut_to("\u8868\u793a", 4, "~") == "\u8868\u793a"); // of two columns each
    CHECK(cut_to("\u8868\u793a", 3, "~") == "\u8868~");
    CHECK(cut_to("\u8868\u793a", 2, "~") == "~");
    CHECK(cut_to("e\u0301tat", 3, "~") == "e\u0301t~"); // the accent takes none
}

TEST_CASE("a text is left out where not even the mark fits", "[nsdump][columns]")
{
    CHECK(cut_to("lookup", 2, "...").empty());
    CHECK(cut_to("lookup", 0, "~").empty());
    CHECK(cut_to("", 0, "~").empty());
}

TEST_CASE("a text is padded by what it lacks in columns", "[nsdump][columns]")
{
    CHECK(nsdump::left_aligned("\u00b1", 3) == "\u00b1  ");
    CHECK(nsdump::right_aligned("\u8868", 3) == " \u8868");
    CHECK(nsdump::right_aligned("longer", 3) == "longer");
    CHECK(nsdump::padding("longer", 3).empty());
}
