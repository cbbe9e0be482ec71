// SPDX-License-Identifier: MIT
#include "export/timeline/nested_slices.hpp"

#include <string>

#include "support/catch.hpp"

namespace
{
using nsdump::TimelineSlice;

// Lanes as text: "a(b()c())" for slices b and c inside a; the name is the letter of the number.
struct Drawn : nsdump::LaneSink {
    std::vector<std::string> lanes;
    std::string parents; // of each slice in the order of BEGINs; "-" for none

    void begin(size_t lane, const TimelineSlice &slice, const TimelineSlice *parent) override
    {
        lanes.resize(std::max(lanes.size(), lane + 1));
        lanes[lane] += char('a' + slice.name);
        lanes[lane] += '(';
        parents += parent ? char('a' + parent->name) : '-';
    }
    void end(size_t lane, const TimelineSlice &) override { lanes[lane] += ')'; }
};

TimelineSlice slice(char name, uint32_t depth, uint64_t start_ns, uint64_t stop_ns)
{
    TimelineSlice one;
    one.name = nsdump::NameId(name - 'a');
    one.depth = depth;
    one.start_ns = start_ns;
    one.stop_ns = stop_ns;
    return one;
}

std::vector<std::string> drawn(const std::vector<TimelineSlice> &slices, size_t flush_every = 100)
{
    nsdump::NestedSlices nested;
    Drawn sink;
    for (const TimelineSlice &one : slices) {
        nested.add(one);
        if (nested.size() >= flush_every)
            nested.flush(0, sink);
    }
    nested.flush(0, sink);
    CHECK(nested.size() == 0);
    return sink.lanes;
}

using Lanes = std::vector<std::string>;
} // namespace

TEST_CASE("slices that end before the one around them are written inside of it",
          "[nsdump][timeline]")
{
    CHECK(drawn({slice('c', 2, 11, 12), slice('b', 1, 10, 20), slice('d', 1, 20, 30),
                 slice('a', 0, 5, 30), slice('e', 0, 30, 40)}) == Lanes{"a(b(c())d())e()"});
}

TEST_CASE("slices without duration are nested as their depths say", "[nsdump][timeline]")
{
    CHECK(drawn({slice('x', 2, 100, 100), slice('a', 1, 100, 100), slice('c', 2, 100, 150),
                 slice('b', 1, 100, 200), slice('p', 0, 100, 300)}) == Lanes{"p(a(x())b(c()))"});
}

TEST_CASE("a slice that the pairer held is put in its place", "[nsdump][timeline]")
{
    CHECK(drawn({slice('b', 1, 12, 14), slice('c', 0, 30, 40), slice('a', 0, 10, 20)}) ==
          Lanes{"a(b())c()"});
}

TEST_CASE("a slice that encloses written ones begins after them in the file, on their lane",
          "[nsdump][timeline]")
{
    CHECK(drawn({slice('b', 1, 12, 14), slice('c', 1, 14, 16), slice('d', 1, 17, 18),
                 slice('a', 0, 10, 20), slice('e', 0, 20, 30)},
                2) == Lanes{"b()c()a(d())e()"});
}

TEST_CASE("a slice that begins with a written one inside gets another lane", "[nsdump][timeline]")
{
    CHECK(drawn({slice('b', 1, 10, 14), slice('c', 1, 14, 16), slice('a', 0, 10, 20)}, 2) ==
          Lanes{"b()c()", "a()"});
}

TEST_CASE("a late slice that would cross a written one gets another lane", "[nsdump][timeline]")
{
    CHECK(drawn({slice('b', 1, 10, 14), slice('c', 1, 30, 40), slice('a', 0, 5, 20)}, 2) ==
          Lanes{"b()c()", "a()"});
}

TEST_CASE("slices that cross get lanes of their own, which are used again", "[nsdump][timeline]")
{
    std::vector<TimelineSlice> slices = {slice('a', 0, 10, 20), slice('b', 0, 15, 25),
                                         slice('c', 0, 30, 40), slice('d', 0, 35, 45),
                                         slice('e', 0, 50, 60)};
    for (size_t i = 0; i < 4; ++i)
        slices[i].is_crossed = true;
    CHECK(drawn(slices) == Lanes{"e()", "a()c()", "b()d()"});
}

TEST_CASE("slices of a clock that goes backwards do not overlap on a lane", "[nsdump][timeline]")
{
    CHECK(drawn({slice('b', 1, 10, 20), slice('c', 1, 15, 25), slice('a', 0, 5, 30)}) ==
          Lanes{"a(b())", "c()"});
}

TEST_CASE("slices beyond the number of lanes are counted", "[nsdump][timeline]")
{
    nsdump::NestedSlices nested;
    Drawn sink;
    for (size_t i = 0; i < nsdump::NestedSlices::kMaxLanes + 3; ++i) {
        TimelineSlice one = slice('a', 0, 10, 100 + i);
        one.is_crossed = true;
        nested.add(one);
    }
    nested.flush(0, sink);
    CHECK(nested.left_out() == 3);
    CHECK(sink.lanes.size() == 1 + nsdump::NestedSlices::kMaxLanes);
}

TEST_CASE("a slice is given with its parent, unless that is not known yet", "[nsdump][timeline]")
{
    nsdump::NestedSlices nested;
    Drawn sink;
    nested.add(slice('c', 2, 12, 14));
    nested.add(slice('b', 1, 12, 15));
    nested.flush(0, sink);
    nested.add(slice('a', 0, 10, 20));
    nested.flush(0, sink);
    CHECK(sink.parents == "-b-");
}

TEST_CASE("of the slices that are kept, none is in a tree that is written", "[nsdump][timeline]")
{
    nsdump::NestedSlices nested;
    Drawn sink;
    nested.add(slice('a', 0, 1, 2));
    nested.add(slice('b', 0, 3, 4));
    nested.add(slice('d', 1, 6, 7));
    nested.add(slice('c', 0, 5, 8));
    nested.flush(1, sink);
    CHECK(sink.lanes == Lanes{"a()b()"});
    CHECK(nested.size() == 2);
}
