// SPDX-License-Identifier: MIT
#include "analyse/thinning/gap.hpp"

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using namespace test_support;
using nsdump::ContextGap;
using nsdump::Starts;

namespace
{
// With work: inner 64, outer 128, so a gap of 64.  Alone: 71 and 142, a gap of 71.
nsdump::Correction correction(double overtaken = 0)
{
    TraceBuilder trace;
    trace.info(plain_info());
    const auto work = entry(NSLICE_KIND_START, 0, 64, 128),
               alone = entry(NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0, 71, 142);
    const auto overtaking =
        entry(NSLICE_KIND_START | NSLICE_ENTRY_OVERTAKING, 0, 64 - overtaken, 128);
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0, {work, alone, overtaking});
    const uint16_t id = trace.site("slice");
    trace.start(0, 1, id, 100);
    trace.stop(0, 1, id, 200);
    const nsdump::TraceFile file(source_of(trace.bytes()));
    return nsdump::Correction(file);
}

ContextGap gap(Starts starts, double overtaken = 0)
{
    return nsdump::gap_in_context({{0, 1, 0, 0}}, starts, correction(overtaken));
}
} // namespace

TEST_CASE("the gap of STARTs after other code is that after work, up to half of what it hides",
          "[nsdump][thinning]")
{
    CHECK(gap({10, 0, 0}).value == 64);
    CHECK(gap({10, 0, 0}).bound() == Approx(3.5));
}

TEST_CASE("the gap of STARTs right after a probe is their distance to it, which may include code",
          "[nsdump][thinning]")
{
    CHECK(gap({10, 10, 710}).value == 71);
    CHECK(gap({10, 10, 710}).bound() == 0);
    CHECK(gap({10, 10, 750}).value == 75);
    CHECK(gap({10, 10, 750}).bound() == 4);
    CHECK(gap({10, 10, 1000}).value == 100);
    CHECK(gap({10, 10, 1000}).bound() == 29);
}

namespace
{
// Between work, the pair was disturbed: 64 and 128 with an interval of 20, and 50 more at the end.
nsdump::Correction disturbed(double alone_at_end, double ci95_at_end)
{
    TraceBuilder trace;
    trace.info(plain_info());
    const auto at = [](double outer, double alone, double ci95) {
        return std::vector{
            entry(NSLICE_KIND_START, 0, 64, outer, 20, 0),
            entry(NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0, alone, 2 * alone, ci95, 0)};
    };
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0, at(128, 71, 0.5));
    trace.mark(0, 1, 1, 10, 0);
    trace.calibration(NSLICE_CALIBRATION_END, 100, 100, at(178, alone_at_end, ci95_at_end));
    trace.footer(NSLICE_END_CLOSED, 100, 100);
    const nsdump::TraceFile file(source_of(trace.bytes()));
    return nsdump::Correction(file);
}
} // namespace

TEST_CASE("a shown gap has the interval of the pair alone, where less disturbed its calibration",
          "[nsdump][thinning]")
{
    const Starts close{10, 10, 750};
    for (const auto &[alone, ci95] : {std::pair(71.0, 0.5), {81.0, 20.0}, {81.0, 0.5}}) {
        const ContextGap shown =
            nsdump::gap_in_context({{0, 1, 0, 0}}, close, disturbed(alone, ci95));
        CHECK(shown.value == 75);
        CHECK(shown.ci95 == 0.5);
        CHECK(shown.shown_bound == 4);
        CHECK(shown.calibrated_bound == 0);
    }
}

TEST_CASE("a gap that is not shown has the interval and the drift of the pair between work",
          "[nsdump][thinning]")
{
    const nsdump::Correction correction = disturbed(71, 0.5);
    for (const Starts &starts : {Starts{10, 0, 0}, {10, 10, 1300}}) {
        const ContextGap other = nsdump::gap_in_context({{0, 1, 0, 0}}, starts, correction);
        CHECK(other.ci95 > 10);
        CHECK(other.calibrated_bound > 15);
        CHECK(other.shown_bound == 0);
    }
}

TEST_CASE("the distance after slices without records inside decides if there are enough",
          "[nsdump][thinning]")
{
    CHECK(gap({1000, 1000, 71000, 1000, 99, 7920}).value == 71);
    CHECK(gap({1000, 1000, 71000, 1000, 100, 8000}).value == 80);
}

TEST_CASE("with code between probe and START the gap lies between that after work and the distance",
          "[nsdump][thinning]")
{
    CHECK(gap({10, 10, 1100}).value == 87);
    CHECK(gap({10, 10, 1100}).bound() == 23);
}

TEST_CASE("where reads overtake much work, all of the distance may be the gap",
          "[nsdump][thinning]")
{
    const Starts after_same{200, 200, 40000, 200, 200, 40000, 200, 200, 40000};
    CHECK(gap(after_same, 200).value == 200);
    CHECK(gap(after_same, 200).bound() == 129);
    CHECK(gap(after_same).value == 132); // between that after work and the distance
    CHECK(nsdump::close_limit(correction(200), 26) == Approx(422));
    CHECK(nsdump::is_overtaking({{0, 1, 0, 0}}, correction(200)));
    CHECK_FALSE(nsdump::is_overtaking({{0, 1, 0, 0}}, correction()));
}

TEST_CASE("where reads overtake much work, only STOPs of the same name show the gap",
          "[nsdump][thinning]")
{
    const Starts after_others{200, 200, 14200, 200, 200, 14200};
    CHECK_FALSE(after_others.show_own_gap());
    for (const Starts &starts : {Starts{10, 0, 0}, after_others}) {
        CHECK(gap(starts, 200).value == 64);
        CHECK(gap(starts, 200).bound() == 200);
    }
}

TEST_CASE("the gap is the mean over STARTs after probes and others", "[nsdump][thinning]")
{
    CHECK(gap({10, 5, 355}).value == Approx(67.5));
    CHECK(gap({10, 5, 355}).bound() == Approx(1.75));
}

TEST_CASE("a record is close within one and a half gaps and a step of the clock",
          "[nsdump][thinning]")
{
    CHECK(nsdump::close_limit(correction(), 26) == Approx(132.5));
}
