// SPDX-License-Identifier: MIT
#include "analyse/correct/correction.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "decode/error.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;
using nsdump::Correction;
using nsdump::TraceFile;
using test_support::entry;
using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
using Entries = std::vector<nslice_calibration_entry>;

std::string trace_with(const Entries &start, const Entries &end, const std::string &counters = "")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info(1e9, counters));
    if (!start.empty())
        trace.calibration(NSLICE_CALIBRATION_START, 0, 0, start);
    for (const uint32_t cpu : {0u, 1u, 2u})
        trace.mark(cpu, 1, 1, 10, 0);
    if (!end.empty())
        trace.calibration(NSLICE_CALIBRATION_END, 100, 100, end);
    trace.footer(NSLICE_END_CLOSED, 100, 100);
    return trace.bytes();
}
} // namespace

TEST_CASE("a CPU uses its own constants, else those for any CPU, else the mean over the CPUs",
          "[nsdump][correction]")
{
    SECTION("own constants and those for any CPU")
    {
        const TraceFile trace(source_of(trace_with(
            {entry(NSLICE_KIND_START, 0, 20, 40, 1, 0), entry(NSLICE_KIND_START, 0, 30, 60, 1)},
            {})));
        const Correction correction(trace);
        CHECK(correction.of(0, 0).inner == 20);
        CHECK(correction.of(1, 0).inner == 30);
        CHECK(correction.of(1, 0).outer[nsdump::kPair] == 60);
    }
    SECTION("own constants and the mean")
    {
        const TraceFile trace(source_of(trace_with(
            {entry(NSLICE_KIND_START, 0, 20, 40, 3, 0), entry(NSLICE_KIND_START, 0, 30, 60, 4, 1)},
            {})));
        const Correction correction(trace);
        CHECK(correction.of(1, 0).inner == 30);
        CHECK(correction.of(2, 0).inner == 25);
        // two independent means, and a third CPU that differs from them as much as they differ from
        // each other
        CHECK(correction.of(2, 0).inner_ci95 ==
              Approx(std::hypot(2.5, 12.71 * std::sqrt(50 * 1.5))));
        REQUIRE(correction.warnings().size() == 2);
        CHECK_THAT(correction.warnings()[1], Contains("1 CPUs were not calibrated themselves"));
    }
    SECTION("CPUs that share constants share their errors")
    {
        const TraceFile trace(source_of(trace_with(
            {entry(NSLICE_KIND_START, 0, 20, 40, 1, 0), entry(NSLICE_KIND_START, 0, 30, 60, 1)},
            {})));
        const Correction correction(trace);
        CHECK(correction.of(0, 0).source == 0);
        CHECK(correction.of(1, 0).source == 1);
        CHECK(correction.of(2, 0).source == 1);
    }
}

TEST_CASE("start and end are averaged; half of the difference beyond their intervals is drift",
          "[nsdump][correction]")
{
    const TraceFile trace(source_of(trace_with({entry(NSLICE_KIND_START, 0, 20, 40, 0.3)},
                                               {entry(NSLICE_KIND_START, 0, 24, 40.1, 0.4)})));
    const Correction correction(trace);
    const nsdump::FieldConstants &constants = correction.of(0, 0);
    CHECK(constants.inner == 22);
    CHECK(constants.inner_ci95 == Approx(0.25));
    CHECK(constants.inner_bound == Approx(std::sqrt(4 * 4 - 0.5 * 0.5) / 2));
    CHECK(constants.outer[nsdump::kPair] == Approx(40.05));
    CHECK(constants.outer_bound[nsdump::kPair] == 0); // 0.1 apart, up to 0.5 by chance
    REQUIRE(correction.drift().size() == 2);
    CHECK(correction.drift()[0].is_inner);
    CHECK(correction.drift()[0].is_significant);
    CHECK_FALSE(correction.drift()[1].is_significant);
}

namespace
{
Entries pair_of(double inner, double inner_ci95, double outer, double outer_ci95, double alone,
                uint32_t cpu = NSLICE_ANY_CPU)
{
    auto between_work = entry(NSLICE_KIND_START, 0, inner, outer, inner_ci95, cpu);
    between_work.outer_ci95 = outer_ci95;
    between_work.degrees = 4;
    return {between_work,
            entry(NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0, alone, alone + 25, 0.2, cpu)};
}

// Verdicts on inner and outer of the pair.
std::pair<bool, bool> verdicts(const Entries &start, const Entries &end)
{
    const TraceFile trace(source_of(trace_with(start, end)));
    const Correction correction(trace);
    REQUIRE(correction.drift().size() == 2);
    return {correction.drift()[0].is_significant, correction.drift()[1].is_significant};
}
} // namespace

TEST_CASE("a move beyond a tenth of the cost alone is drift however wide the intervals are",
          "[nsdump][correction]")
{
    // As recorded in mode fast, with a neighbour that was busy at the end.
    CHECK(verdicts(pair_of(-23.6, 0.5, 1.4, 0.1, 24.7), pair_of(-12.0, 58.4, 12.9, 63.3, 25.2)) ==
          std::pair(true, true));
    CHECK(verdicts(pair_of(-23.6, 0.5, 1.4, 0.1, 24.7), pair_of(-21.8, 9.0, 3.1, 9.0, 24.7)) ==
          std::pair(false, false)); // 7 % of 24.7, and less than the intervals
}

TEST_CASE("drift is relative to the cost alone, of which work may hide more than all",
          "[nsdump][correction]")
{
    // 1.2 of 24.7 is 4.9 %, although -23.6 and the 48.3 that work hides are larger numbers.
    CHECK(verdicts(pair_of(-23.6, 0.2, 1.4, 0.1, 24.7), pair_of(-22.4, 0.2, 1.4, 0.1, 24.7)) ==
          std::pair(true, false));
    CHECK(verdicts(pair_of(-23.6, 0.1, 1.4, 0.1, 24.7), pair_of(-23.2, 0.1, 1.4, 0.1, 24.7)) ==
          std::pair(false, false));
}

TEST_CASE("two CPUs that drift in opposite directions are drift", "[nsdump][correction]")
{
    Entries start = pair_of(20, 0.5, 45, 0.5, 24, 0), end = pair_of(24, 0.5, 45, 0.5, 24, 0);
    for (const auto &one : pair_of(20, 0.5, 45, 0.5, 24, 1))
        start.push_back(one);
    for (const auto &one : pair_of(16, 0.5, 45, 0.5, 24, 1))
        end.push_back(one);
    CHECK(verdicts(start, end) == std::pair(true, false));
}

TEST_CASE("drift that only one CPU shows has its number and its move", "[nsdump][correction]")
{
    Entries start = pair_of(20, 0.5, 45, 0.5, 24, 0), end = pair_of(20, 0.5, 45, 0.5, 24, 0);
    for (const auto &one : pair_of(20, 0.5, 45, 0.5, 24, 1))
        start.push_back(one);
    for (const auto &one : pair_of(23, 9, 45, 0.5, 24, 1))
        end.push_back(one);
    const TraceFile trace(source_of(trace_with(start, end)));
    const nsdump::Drift drift = Correction(trace).drift().at(0);
    CHECK(drift.is_significant);
    CHECK(drift.end == 21.5);
    REQUIRE(drift.on_cpu);
    CHECK(drift.on_cpu->cpu == 1);
    CHECK(drift.on_cpu->start == 20);
    CHECK(drift.on_cpu->end == 23);
}

TEST_CASE("a noisy count is not drift without its interval", "[nsdump][correction]")
{
    const Entries noisy = {entry(NSLICE_KIND_START, 0, 20, 40, 0.5),
                           entry(NSLICE_KIND_START, 1, 0.01, 0.02, 0.05)};
    Entries later = noisy;
    later[1].inner = 0.03;
    const TraceFile trace(source_of(trace_with(noisy, later, "page-faults")));
    const Correction correction(trace);
    for (const nsdump::Drift &drift : correction.drift())
        CHECK_FALSE(drift.is_significant);
}

TEST_CASE("the part of a probe that its surroundings hide bounds the error of the constants",
          "[nsdump][correction]")
{
    constexpr unsigned kAlone = NSLICE_ENTRY_ALONE;
    const TraceFile trace(source_of(
        trace_with({entry(NSLICE_KIND_START | kAlone, 0, 35, 60, 9),
                    entry(NSLICE_KIND_START, 0, 20, 40, 3), entry(NSLICE_KIND_MARK, 0, 0, 21)},
                   {entry(NSLICE_KIND_START, 0, 20, 42, 3),
                    entry(NSLICE_KIND_START | kAlone, 0, 25, 58, 9)})));
    const Correction correction(trace);
    const nsdump::FieldConstants &constants = correction.of(0, 0);
    CHECK(constants.inner == 20);
    CHECK(constants.outer[nsdump::kPair] == 41);
    CHECK(constants.inner_bound == 10); // 15 at the start, 5 at the end
    CHECK(constants.outer_bound[nsdump::kPair] == 18);
    CHECK(constants.outer_bound[nsdump::kMark] == 0);
    CHECK(correction.start().size() == 2);
    CHECK(correction.warnings().empty());
}

TEST_CASE("work that STOP may overtake bounds the error if it is more than work hides",
          "[nsdump][correction]")
{
    const auto at = [](double inner) {
        return Entries{entry(NSLICE_KIND_START, 0, 20, 40, 3),
                       entry(NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0, 35, 60, 3),
                       entry(NSLICE_KIND_START | NSLICE_ENTRY_OVERTAKING, 0, inner, 44, 3)};
    };
    const TraceFile much(source_of(trace_with(at(-180), at(-160)))),
        little(source_of(trace_with(at(10), at(10))));
    const Correction correction(much);
    CHECK(correction.of(0, 0).inner == 20);
    CHECK(correction.of(0, 0).inner_bound == 190);
    CHECK(correction.of(0, 0).outer_bound[nsdump::kPair] == 20);
    CHECK(correction.gaps_of(0).is_overtaking());
    CHECK(correction.gaps_of(0).after_overtaking.value == 214);
    CHECK(correction.start().size() == 1);
    CHECK(correction.warnings().empty());
    CHECK(Correction(little).of(0, 0).inner_bound == 15);
    CHECK_FALSE(Correction(little).gaps_of(0).is_overtaking());
    const TraceFile uncertain(source_of(trace_with(at(3), at(3)))); // 17 ± 3, against 15
    CHECK_FALSE(Correction(uncertain).gaps_of(0).is_overtaking());
}

TEST_CASE("entries with overtaking that are not of the pair's ticks are refused",
          "[nsdump][correction]")
{
    constexpr unsigned kOvertaking = NSLICE_ENTRY_OVERTAKING;
    const TraceFile trace(source_of(trace_with(
        {entry(NSLICE_KIND_START, 0, 20, 40, 3), entry(NSLICE_KIND_MARK | kOvertaking, 0, 0, 900),
         entry(NSLICE_KIND_START | NSLICE_ENTRY_ALONE | kOvertaking, 0, 900, 900),
         entry(NSLICE_KIND_START | kOvertaking, 1, 900, 900)},
        {})));
    const Correction correction(trace);
    CHECK(correction.of(0, 0).inner_bound == 0);
    CHECK_THAT(correction.warnings().at(0), Contains("3 calibration entries"));
}

TEST_CASE("a calibration in which probes have a negative cost is reported as disturbed",
          "[nsdump][correction]")
{
    const Entries negative = {entry(NSLICE_KIND_START, 0, -5, -40, 3),
                              entry(NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0, 30, 60, 3)};
    const TraceFile trace(source_of(trace_with(negative, negative)));
    const Correction disturbed(trace);
    REQUIRE(disturbed.warnings().size() == 1);
    CHECK_THAT(disturbed.warnings()[0], Contains("3 CPUs") && Contains("disturbed"));
    const Entries all_hidden = {entry(NSLICE_KIND_START, 0, -5, -2, 1),
                                entry(NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0, 30, 60, 3)};
    const TraceFile hidden(source_of(trace_with(all_hidden, all_hidden)));
    CHECK(Correction(hidden).warnings().empty());
}

TEST_CASE("every kind and every counter has its own constants", "[nsdump][correction]")
{
    const TraceFile trace(source_of(
        trace_with({entry(NSLICE_KIND_START, 0, 20, 40), entry(NSLICE_KIND_MARK, 0, 0, 21),
                    entry(NSLICE_KIND_INIT, 0, 0, 22), entry(NSLICE_KIND_EXIT, 0, 0, 23),
                    entry(NSLICE_KIND_START, 1, 7, 14)},
                   {}, "INSTRUCTIONS,CYCLES")));
    const Correction correction(trace);
    CHECK(correction.fields() == 3);
    CHECK(correction.of(0, 0).outer == std::array<double, nsdump::kProbes>{40, 21, 22, 23});
    CHECK(correction.of(0, 1).inner == 7);
    CHECK(correction.of(0, 1).is_known);
    CHECK_FALSE(correction.of(0, 2).is_known);
}

TEST_CASE("constants that are not numbers, or have a negative interval, are refused and reported",
          "[nsdump][correction]")
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const TraceFile trace(source_of(
        trace_with({entry(NSLICE_KIND_START, 0, nan, 40), entry(NSLICE_KIND_START, 0, 20, 40, -1),
                    entry(NSLICE_KIND_STOP, 0, 1, 1), entry(NSLICE_KIND_START, 9, 1, 1)},
                   {})));
    const Correction correction(trace);
    CHECK_FALSE(correction.has_constants());
    CHECK_FALSE(correction.of(0, 0).is_known);
    REQUIRE(correction.warnings().size() == 2);
    CHECK_THAT(correction.warnings()[0], Contains("4 calibration entries"));
}

TEST_CASE("calibration.json replaces the trace's constants if its settings are the session's",
          "[nsdump][correction]")
{
    const TraceFile trace(
        source_of(trace_with({entry(NSLICE_KIND_START, 0, 20, 40)}, {}, "instructions")));
    nsdump::CalibrationFile file;
    file.probes.push_back(
        {"START+STOP", "ordered", "rseq", "perf-read", 99, 0, 99, 0, {}, {}, 1, 0});
    CHECK_THROWS_WITH(Correction(trace, &file), Contains("mode \"fast\"") && Contains("calibrate"));

    file.probes.push_back(
        {"START+STOP", "fast", "rseq", "perf-read", 11, 1, 33, 2, 5.0, 9.0, 1, 0});
    file.probes.push_back({"MARK", "fast", "rseq", "perf-read", 0, 0, 17, 0, {}, {}, 1, 0});
    file.probes[1].inner_hidden_ticks = 3;
    file.probes[1].outer_hidden_ticks = 4;
    const Correction correction(trace, &file);
    CHECK(correction.of(0, 0).inner == 11);
    CHECK(correction.of(0, 0).outer[nsdump::kPair] == 33);
    CHECK(correction.of(0, 0).inner_bound == 3);
    CHECK(correction.of(0, 0).outer_bound[nsdump::kPair] == 4);
    CHECK(correction.of(0, 0).outer[nsdump::kMark] == 17);
    CHECK(correction.of(0, 1).inner == 5);
    CHECK(correction.of(0, 1).outer[nsdump::kPair] == 9);
}

TEST_CASE("a calibration of another machine, version or clock is reported as such, with a remedy",
          "[nsdump][correction]")
{
    test_support::TraceBuilder builder;
    builder.info(test_support::plain_info() + "machine.cpu=CPU A\nwriter.version=0.2\n");
    const TraceFile trace(source_of(builder.bytes()));
    nsdump::CalibrationFile file;
    file.clock.hz = 1e9;
    file.context.cpu = "CPU A";
    file.context.version = "0.2";
    file.probes.push_back({"START+STOP", "fast", "rseq", "none", 11, 1, 33, 2, {}, {}, 1, 0});
    CHECK(Correction(trace, &file).warnings().empty());

    file.context.cpu = "CPU B";
    file.context.version = "0.1";
    file.clock.hz = 2e9;
    const auto warnings = Correction(trace, &file).warnings();
    REQUIRE(warnings.size() == 3);
    CHECK_THAT(warnings[0], Contains("CPU B") && Contains("CPU A") && Contains("run nscalibrate"));
    CHECK_THAT(warnings[1], Contains("version 0.1") && Contains("run nscalibrate"));
    CHECK_THAT(warnings[2], Contains("2 GHz") && Contains("run nscalibrate"));
}

TEST_CASE("constants of counters come from the file, which must have the trace's counters",
          "[nsdump][correction]")
{
    const TraceFile trace(source_of(
        trace_with({entry(NSLICE_KIND_START, 0, 20, 40)}, {}, "instructions,page-faults")));
    nsdump::CalibrationFile file;
    file.probes.push_back({"START+STOP",
                           "fast",
                           "rseq",
                           "perf-read",
                           11,
                           1,
                           33,
                           2,
                           {},
                           {},
                           1,
                           0,
                           {{"page-faults", 0, 0, 0, 0}}});
    CHECK_THROWS_WITH(Correction(trace, &file),
                      Contains("counters page-faults") &&
                          Contains("--counters instructions,page-faults"));

    file.probes.push_back({"START+STOP",
                           "fast",
                           "rseq",
                           "perf-read",
                           12,
                           1,
                           34,
                           2,
                           {},
                           {},
                           1,
                           0,
                           {{"instructions", 5, 0, 9, 0}, {"page-faults", 0, 0, 1, 0}}});
    const Correction correction(trace, &file);
    CHECK(correction.of(0, 0).inner == 12);
    CHECK(correction.of(0, 1).outer[nsdump::kPair] == 9);
    CHECK(correction.of(0, 2).outer[nsdump::kPair] == 1);
}
