// SPDX-License-Identifier: MIT
#include "analyse/statistics/stats.hpp"

#include <array>

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using test_support::entry;
using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
// One CPU, inner 20, outer 40 ticks; counter: inner 5, outer 9.
nsdump::TraceFile calibrated_trace()
{
    TraceBuilder trace;
    trace.info(test_support::plain_info(1e9, "I"));
    trace.calibration(
        NSLICE_CALIBRATION_START, 0, 0,
        {entry(NSLICE_KIND_START, 0, 20, 40, 0.5), entry(NSLICE_KIND_START, 1, 5, 9)});
    trace.mark(0, 1, 1, 10, 0);
    return nsdump::TraceFile(source_of(trace.bytes()));
}

nsdump::Slice plain_slice(int64_t raw_ticks)
{
    nsdump::Slice slice{};
    slice.raw_ticks = raw_ticks;
    return slice;
}
} // namespace

TEST_CASE("net, self and raw of a slice with a slice inside", "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector stats(correction, 1);
    nsdump::Slice slice = plain_slice(200);
    slice.inside.ends = 2;
    slice.children = 1;
    slice.child_ticks = 70;
    stats.slice(slice);
    stats.finish();
    const nsdump::FieldStats &ticks = stats.slice_stats(0)->ticks;
    CHECK(ticks.raw.sum() == 200);
    CHECK(ticks.net.sum() == 200 - 20 - 40);
    CHECK(ticks.self.sum() == 140 - (70 - 20));
    CHECK(ticks.net_errors.uncertainty().ci95() == Approx(1.0)); // inner and one outer
    CHECK(ticks.self_errors.uncertainty().ci95() ==
          Approx(0.5)); // one outer: the other inner is added back
}

TEST_CASE("migrated slices and those that span a loss are counted, not averaged", "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector stats(correction, 1);
    stats.slice(plain_slice(100));
    nsdump::Slice odd = plain_slice(1'000'000);
    odd.is_migrated = true;
    stats.slice(odd);
    odd.is_migrated = false;
    odd.spans_loss = true;
    stats.slice(odd);
    stats.finish();
    const nsdump::SliceStats &slice = *stats.slice_stats(0);
    CHECK(slice.ticks.count == 1);
    CHECK(slice.ticks.raw.max() == 100);
    CHECK(slice.migrated == 1);
    CHECK(slice.spans_loss == 1);
}

TEST_CASE("a migrated slice loses its time, but keeps its counters, which are per thread",
          "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    const int64_t counters[] = {105};
    for (const bool is_stepping : {false, true}) {
        nsdump::StatsCollector stats(correction, 1, is_stepping);
        nsdump::Unit unit;
        unit.serial = 1;
        unit.packets = 10;
        nsdump::Slice odd = plain_slice(1'000'000);
        odd.counters = odd.child_counters = counters;
        odd.unit = &unit;
        odd.is_migrated = true;
        stats.slice(odd);
        odd.spans_loss = true; // its contents are unknown: nothing is kept
        stats.slice(odd);
        stats.finish();
        const nsdump::SliceStats &slice = *stats.slice_stats(0);
        CHECK(slice.migrated == 2);
        CHECK(slice.ticks.count == 0);
        CHECK(slice.ticks.packets == 0);
        REQUIRE(slice.counters.size() == 1);
        CHECK(slice.counters[0].count == 1);
        CHECK(slice.counters[0].net.sum() == 100);
        CHECK(slice.counters[0].packets == 10);
    }
}

TEST_CASE("interrupted slices and those without counters are reported, and keep their time",
          "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    const int64_t counters[] = {105};
    for (const bool is_stepping : {false, true}) {
        nsdump::StatsCollector stats(correction, 1, is_stepping);
        nsdump::Slice odd = plain_slice(300);
        stats.slice(odd); // without counters: every n-th unit is stepped, the others are not
        odd.is_interrupted = true;
        odd.counters = odd.child_counters = counters;
        stats.slice(odd);
        stats.finish();
        const nsdump::SliceStats &slice = *stats.slice_stats(0);
        CHECK(slice.uncounted == (is_stepping ? 0 : 1));
        CHECK(slice.interrupted == 1);
        CHECK(slice.ticks.count == (is_stepping ? 1 : 2));
        CHECK(slice.counters.at(0).count == 1);
    }
}

TEST_CASE("values at or below zero are below noise and unchanged", "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector stats(correction, 1);
    for (const int64_t raw : {1, 20, 21})
        stats.slice(plain_slice(raw));
    stats.finish();
    CHECK(stats.slice_stats(0)->ticks.below_noise == 2);
    CHECK(stats.slice_stats(0)->ticks.net.sum() == -19 + 0 + 1);
}

TEST_CASE("a unit's packets count once for a slice, however often it ran in the unit",
          "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector stats(correction, 1);
    nsdump::Unit unit;
    unit.packets = 64;
    for (int units = 0; units < 3; ++units) {
        unit.seen.clear();
        ++unit.serial;
        for (int i = 0; i < 5; ++i) {
            for (const nsdump::NameId name :
                 {0u, 64u, 128u}) { // the same place in the table of hints
                nsdump::Slice slice = plain_slice(120);
                slice.name = name;
                slice.unit = &unit;
                stats.slice(slice);
            }
        }
    }
    stats.slice(plain_slice(120)); // outside any unit
    stats.finish();
    for (const nsdump::NameId name : {0u, 64u, 128u}) {
        CHECK(stats.slice_stats(name)->ticks.packets == 3 * 64);
        CHECK(stats.slice_stats(name)->ticks.unit_net == 15 * 100);
    }
    CHECK(stats.slice_stats(0)->ticks.count == 16);
}

TEST_CASE("counters that ran only in some units count only those units' packets", "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector stats(correction, 1);
    nsdump::Unit unit;
    unit.packets = 10;
    const int64_t counters[] = {105};
    for (int i = 0; i < 4; ++i) {
        unit.seen.clear();
        ++unit.serial;
        nsdump::Slice slice = plain_slice(120);
        slice.unit = &unit;
        slice.counters = i == 0 ? counters : nullptr;
        slice.child_counters = slice.counters;
        stats.slice(slice);
    }
    stats.finish();
    const nsdump::SliceStats &slice = *stats.slice_stats(0);
    CHECK(slice.ticks.packets == 40);
    REQUIRE(slice.counters.size() == 1);
    CHECK(slice.counters[0].count == 1);
    CHECK(slice.counters[0].packets == 10);
    CHECK(slice.counters[0].net.sum() == 100);
}

TEST_CASE("marks keep count, sum, smallest and largest", "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector stats(correction, 1);
    for (const uint64_t value : {7, 3, 5})
        stats.mark(2, value);
    CHECK(stats.mark_stats(2)->count == 3);
    CHECK(stats.mark_stats(2)->min == 3);
    CHECK(stats.mark_stats(2)->max == 7);
    CHECK(stats.mark_stats(2)->sum == 15);
    CHECK(stats.mark_stats(1) == nullptr);
}

TEST_CASE("a slice that was single-stepped is counted but not timed", "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector stats(correction, 1, true);
    const int64_t counters[] = {105};
    nsdump::Slice stepped = plain_slice(1'000'000);
    stepped.counters = counters;
    stats.slice(stepped);
    stats.slice(plain_slice(120));
    stats.finish();
    const nsdump::SliceStats &slice = *stats.slice_stats(0);
    CHECK(slice.stepped == 1);
    CHECK(slice.ticks.count == 1);
    CHECK(slice.ticks.raw.max() == 120);
    CHECK(slice.counters.at(0).count == 1);
}

TEST_CASE("short slices, counted by value, give the same figures as slices added one by one",
          "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    constexpr int64_t kLong = 1'000'000; // too long to be counted by value
    for (const uint32_t pairs : {0u, 1u, 3u}) {
        nsdump::StatsCollector short_ones(correction, 1), long_ones(correction, 1);
        nsdump::Unit unit;
        unit.serial = 1;
        unit.packets = 64;
        nsdump::Unit same_unit = unit;
        for (int64_t i = 0; i < 1000; ++i) {
            nsdump::Slice slice = plain_slice(300 + i * i % 91);
            slice.unit = i % 2 ? &unit : nullptr;
            slice.inside.ends = 2 * pairs;
            slice.children = pairs > 1 && i % 5 == 0 ? 1 : pairs; // the others are nested in it
            slice.in_children.ends = 2 * (pairs - slice.children);
            slice.child_ticks = pairs * (50 + i % 7);
            short_ones.slice(slice);
            slice.raw_ticks += kLong;
            slice.unit = i % 2 ? &same_unit : nullptr;
            long_ones.slice(slice);
        }
        short_ones.finish();
        long_ones.finish();
        const nsdump::FieldStats &a = short_ones.slice_stats(0)->ticks,
                                 &b = long_ones.slice_stats(0)->ticks;
        CHECK(a.count == 1000);
        CHECK(a.packets == b.packets);
        CHECK(a.unit_count == b.unit_count);
        CHECK(a.raw.sum() == b.raw.sum() - 1000.0 * kLong);
        CHECK(a.net.sum() == b.net.sum() - 1000.0 * kLong);
        CHECK(a.unit_net == b.unit_net - 500.0 * kLong);
        CHECK(a.self_count == b.self_count);
        CHECK(a.self.sum() == b.self.sum() - 1000.0 * kLong);
        CHECK(a.self.sd(1000) == Approx(b.self.sd(1000)).epsilon(1e-9));
        CHECK(a.unit_self == b.unit_self - 500.0 * kLong);
        CHECK(a.net.sd(1000) == Approx(b.net.sd(1000)).epsilon(1e-9));
        CHECK(a.net.min() == b.net.min() - kLong);
        CHECK(a.net.max() == b.net.max() - kLong);
        CHECK(a.raw_histogram.total() == 1000);
        CHECK(a.net_errors.uncertainty().ci95() ==
              Approx(b.net_errors.uncertainty().ci95()).epsilon(1e-12));
        CHECK(a.self_errors.uncertainty().ci95() ==
              Approx(b.self_errors.uncertainty().ci95()).epsilon(1e-12));
        CHECK(a.net_blocks.standard_error() == Approx(b.net_blocks.standard_error()).epsilon(1e-9));
    }
}

TEST_CASE("no slice is lost if it has more shapes than are counted by value", "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector stats(correction, 1);
    for (uint32_t i = 0; i < 3000; ++i) {
        nsdump::Slice slice = plain_slice(100);
        slice.children = i % 1000;
        slice.inside.ends = 2 * slice.children;
        stats.slice(slice);
    }
    stats.finish();
    const nsdump::FieldStats &ticks = stats.slice_stats(0)->ticks;
    CHECK(ticks.count == 3000);
    CHECK(ticks.net.sum() == 3000 * 80.0 - 3 * 999 * 500 * 40.0);
    CHECK(ticks.below_noise == 3 * 998); // all with two pairs or more
}

TEST_CASE("no slice is lost if a trace has more names than are counted by value", "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector stats(correction, 1);
    constexpr nsdump::NameId kNames = 3 * nsdump::kMaxTallies;
    for (int round = 0; round < 2; ++round) {
        for (nsdump::NameId name = 0; name < kNames; ++name) {
            nsdump::Slice slice = plain_slice(100);
            slice.name = name;
            stats.slice(slice);
        }
    }
    size_t with_tally = 0;
    for (nsdump::NameId name = 0; name < kNames; ++name)
        with_tally += stats.slice_stats(name)->tallies.all().size();
    CHECK(with_tally == 0); // with this many names, none gets 32 KiB
    stats.finish();
    for (nsdump::NameId name = 0; name < kNames; ++name)
        REQUIRE(stats.slice_stats(name)->ticks.net.sum() == 2 * 80);
}

TEST_CASE("a name has the same figures among very many names as by itself", "[nsdump][stats]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector alone(correction, 1), among(correction, 1);
    for (nsdump::NameId name = 1; name <= nsdump::kMaxTalliedNames; ++name) {
        nsdump::Slice slice = plain_slice(100);
        slice.name = name;
        among.slice(slice);
    }
    std::array<nsdump::Unit, 2> units;
    for (uint32_t i = 0; i < 200'000;
         ++i) { // one more often than a line counts, many that fill the lines, some too long
        nsdump::Slice slice =
            plain_slice(i % 2 == 0 ? 100 : (i * 977 % 50'000) + (i % 1000 == 1 ? 1 << 25 : 0));
        slice.children = i % 7 == 0 ? i % 300 : 0;
        slice.inside.ends = 2 * slice.children;
        slice.child_ticks = 3 * slice.children;
        slice.is_interrupted = i % 5 == 0;
        for (nsdump::Unit &unit : units) {
            if (i % 50 == 0) {
                unit.serial = i / 50 + 1;
                unit.packets = i % 64;
                unit.seen.clear();
            }
            slice.unit = i % 100 < 90 ? &unit : nullptr;
            (&unit == &units.front() ? alone : among).slice(slice);
        }
    }
    alone.finish();
    among.finish();
    const nsdump::SliceStats &a = *alone.slice_stats(0), &b = *among.slice_stats(0);
    CHECK(a.interrupted == b.interrupted);
    CHECK(a.ticks.count == b.ticks.count);
    CHECK(a.ticks.unit_count == b.ticks.unit_count);
    CHECK(a.ticks.packets == b.ticks.packets);
    CHECK(a.ticks.below_noise == b.ticks.below_noise);
    CHECK(a.ticks.raw.sum() == b.ticks.raw.sum());
    CHECK(a.ticks.net.sum() == b.ticks.net.sum());
    CHECK(a.ticks.self.sum() == Approx(b.ticks.self.sum()).epsilon(1e-9));
    CHECK(a.ticks.self.sd(a.ticks.self_count) ==
          Approx(b.ticks.self.sd(b.ticks.self_count)).epsilon(1e-9));
    CHECK(a.ticks.net_histogram.quantiles(std::array{0.1, 0.5, 0.999}) ==
          b.ticks.net_histogram.quantiles(std::array{0.1, 0.5, 0.999}));
    CHECK(a.ticks.net_blocks.standard_error() ==
          Approx(b.ticks.net_blocks.standard_error()).epsilon(1e-9));
    CHECK(a.ticks.per_unit.blocks().count() == b.ticks.per_unit.blocks().count());
}
