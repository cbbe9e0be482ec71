// SPDX-License-Identifier: MIT
#include "cli/read/seek.hpp"

#include <string>
#include <vector>

#include "common/command/output.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using nsdump::Selection;
using nsdump::TickRange;
using nsdump::TraceFile;
using nsdump::UnitIndex;

namespace
{
using Spans = std::vector<std::vector<uint64_t>>;

Spans plain(const std::vector<TickRange> &ranges)
{
    Spans spans;
    for (const TickRange &range : ranges)
        spans.push_back({range.from_ticks, range.to_ticks});
    return spans;
}

class Builder : public test_support::TraceBuilder
{
public:
    Builder()
    {
        info(test_support::plain_info(1e9)); // a tick is a nanosecond
        calibration(NSLICE_CALIBRATION_START, 1000, 0, {});
        batch = site("batch", NSLICE_KIND_INIT);
        parse = site("parse");
        rare = site("rare");
    }
    // 64 chunks of parse, on both CPUs, 10 ms apart.
    void fill(uint64_t from_ticks)
    {
        for (uint64_t i = 0; i < 64; ++i)
            for (const uint32_t cpu : {0, 1}) {
                start(cpu, cpu + 1, parse, from_ticks + i * 10'000'000);
                stop(cpu, cpu + 1, parse, from_ticks + i * 10'000'000 + 50);
                cut(cpu);
            }
    }
    TraceFile trace() { return TraceFile(test_support::source_of(bytes())); }

    uint16_t batch, parse, rare;
};

UnitIndex index_of(TraceFile &trace)
{
    return UnitIndex::build(trace, [](uint64_t) { return true; }).value();
}

Spans units(Builder &builder, uint64_t number)
{
    builder.footer(NSLICE_END_CLOSED, uint64_t{1} << 40, uint64_t{1} << 40);
    TraceFile trace = builder.trace();
    return plain(nsdump::spans_of_unit(trace, index_of(trace), number).value());
}
} // namespace

TEST_CASE("a unit reaches from its INIT to its EXIT, also over chunks and CPUs", "[nsdump][seek]")
{
    Builder builder;
    builder.init(0, 1, builder.batch, 5000, 7, 1, 64);
    builder.cut(0);
    builder.start(1, 1, builder.parse, 6000);
    builder.stop(1, 1, builder.parse, 6100);
    builder.exit(1, 1, builder.batch, 7000);
    builder.fill(10'000);
    CHECK(units(builder, 7) == Spans{{5000, 7000}});
}

TEST_CASE("each thread may have a unit of the number", "[nsdump][seek]")
{
    Builder builder;
    for (const uint32_t thread : {1, 2}) {
        const uint64_t at = 5000 * thread;
        builder.init(thread - 1, thread, builder.batch, at, 7, 1, 64);
        builder.exit(thread - 1, thread, builder.batch, at + 10);
    }
    CHECK(units(builder, 7) == Spans{{5000, 5010}, {10'000, 10'010}});
    CHECK(units(builder, 8).empty());
}

TEST_CASE("a unit that is longer than the first look at it is found whole", "[nsdump][seek]")
{
    Builder builder;
    builder.init(0, 9, builder.batch, 5000, 7, 1, 64);
    builder.cut(0);
    builder.fill(10'000); // to 640 ms
    builder.exit(0, 9, builder.batch, 900'000'000);
    CHECK(units(builder, 7) == Spans{{5000, 900'000'000}});
}

TEST_CASE("a unit without an EXIT reaches to the next one of its name, or to the end",
          "[nsdump][seek]")
{
    Builder followed;
    followed.init(0, 1, followed.batch, 5000, 7, 1, 64);
    followed.init(0, 1, followed.batch, 6000, 8, 1, 64);
    followed.exit(0, 1, followed.batch, 7000);
    CHECK(units(followed, 7) == Spans{{5000, 6000}});
    Builder last;
    last.init(0, 1, last.batch, 5000, 7, 1, 64);
    last.fill(10'000);
    CHECK(units(last, 7) == Spans{{5000, ~uint64_t{0}}});
}

TEST_CASE("slices of a rare name are found from START to STOP, wherever they migrate",
          "[nsdump][seek]")
{
    Builder builder;
    builder.fill(10'000);
    builder.start(0, 5, builder.rare, 700'000'000);
    builder.cut(0);
    builder.stop(1, 5, builder.rare, 800'000'000);
    builder.footer(NSLICE_END_CLOSED, 900'000'000, 900'000'000);
    TraceFile trace = builder.trace();
    const UnitIndex index = index_of(trace);
    const auto spans = nsdump::spans_of_name(trace, index, "rare");
    REQUIRE(spans);
    const nsdump::ReadPlan plan({}, 0, *spans);
    CHECK(plain(plan.windows()) == Spans{{700'000'000, 800'000'000}});
    CHECK_FALSE(nsdump::spans_of_name(trace, index, "parse")); // in nearly every chunk
    CHECK_FALSE(nsdump::spans_of_name(trace, index, "none"));
}

TEST_CASE("a lost STOP does not hide the slices after it, and recursion is found whole",
          "[nsdump][seek]")
{
    Builder builder;
    builder.fill(10'000);
    builder.start(0, 5, builder.rare, 650'000'000); // its STOP is lost
    for (const uint64_t at : {700'000'000, 900'000'000}) {
        builder.start(0, 5, builder.rare, at);
        builder.start(0, 5, builder.rare, at + 100);
        builder.stop(0, 5, builder.rare, at + 200);
        builder.stop(0, 5, builder.rare, at + 150'000'000);
    }
    builder.footer(NSLICE_END_CLOSED, 1'100'000'000, 1'100'000'000);
    TraceFile trace = builder.trace();
    const auto spans = nsdump::spans_of_name(trace, index_of(trace), "rare");
    REQUIRE(spans);
    CHECK(plain(nsdump::ReadPlan({}, 0, *spans).windows()) == Spans{{650'000'000, 650'000'000},
                                                                    {700'000'000, 850'000'000},
                                                                    {900'000'000, 1'050'000'000}});
}

TEST_CASE("what is found too often to remember has no spans", "[nsdump][seek]")
{
    Builder builder;
    builder.fill(10'000);
    for (uint64_t i = 0; i < 4; ++i) {
        builder.init(0, 5, builder.batch, 700'000'000 + 100 * i, 7, 1, 64);
        builder.start(0, 5, builder.rare, 700'000'010 + 100 * i);
        builder.exit(0, 5, builder.batch, 700'000'020 + 100 * i);
    }
    builder.footer(NSLICE_END_CLOSED, 900'000'000, 900'000'000);
    TraceFile trace = builder.trace();
    const UnitIndex index = index_of(trace);
    CHECK(nsdump::spans_of_unit(trace, index, 7, 4));
    CHECK_FALSE(nsdump::spans_of_unit(trace, index, 7, 3));
    CHECK(nsdump::spans_of_name(trace, index, "rare", 4));
    CHECK_FALSE(nsdump::spans_of_name(trace, index, "rare", 3));
}

TEST_CASE("without a selection everything is read; a range begins with its lead-in",
          "[nsdump][seek]")
{
    Builder builder;
    builder.fill(10'000);
    builder.footer(NSLICE_END_CLOSED, 900'000'000, 899'999'000);
    TraceFile trace = builder.trace();
    CHECK_FALSE(nsdump::plan_of(Selection{}, trace, true));
    const auto plan = nsdump::plan_of(Selection{{"300ms", "0.4"}, {}, ""}, trace, true);
    REQUIRE(plan);
    CHECK(plan->selected().from_ticks == 300'001'000);
    CHECK(plan->selected().to_ticks == 400'001'000);
    CHECK(plain(plan->windows()) == Spans{{200'001'000, 400'001'000}});
}

TEST_CASE("an impossible range is refused", "[nsdump][seek]")
{
    Builder builder;
    builder.fill(10'000);
    TraceFile trace = builder.trace();
    CHECK_THROWS_AS(nsdump::plan_of(Selection{{"2s", "1s"}, {}, ""}, trace, true),
                    command::UsageError);
    CHECK_THROWS_AS(nsdump::plan_of(Selection{{"", "1971-01-01T00:00:00Z"}, {}, ""}, trace, true),
                    command::UsageError);
    test_support::TraceBuilder no_clock;
    no_clock.info("ring.kind=rseq\n");
    no_clock.mark(0, 1, no_clock.site("mark", NSLICE_KIND_MARK), 5, 5);
    TraceFile other(test_support::source_of(no_clock.bytes()));
    CHECK_THROWS_WITH(nsdump::plan_of(Selection{{"1s", ""}, {}, ""}, other, true),
                      Catch::Matchers::Contains("rate of its clock is unknown"));
}

TEST_CASE("a range in UTC counts from the session's start", "[nsdump][seek]")
{
    Builder builder;
    builder.info("session.start_unix_ns=1795953600000000000\n"); // 2026-11-29 12:00
    builder.fill(10'000);
    TraceFile trace = builder.trace();
    const auto plan =
        nsdump::plan_of(Selection{{"2026-11-29T12:00:00.5Z", ""}, {}, ""}, trace, true);
    REQUIRE(plan);
    CHECK(plan->selected().from_ticks == 500'001'000);
}
