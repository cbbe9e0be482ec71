// SPDX-License-Identifier: MIT
#include "analyse/analyse.hpp"

#include <cmath>

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;
using test_support::entry;
using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
nsdump::StatsReport analyse(TraceBuilder &builder, const nsdump::AnalyseOptions &options = {})
{
    nsdump::TraceFile trace(source_of(builder.bytes()));
    return nsdump::analyse_trace(trace, options);
}
} // namespace

TEST_CASE("code of known length is measured to the tick and instruction, nested 0 to 8 deep",
          "[nsdump][analyse]")
{
    // What a machine would write whose pair costs 46 ticks outside and 23 inside, and 30 and 12
    // instructions.
    constexpr uint64_t kInner = 23, kOuter = 46, kInnerCount = 12, kOuterCount = 30;
    for (unsigned depth = 0; depth <= 8; ++depth) {
        TraceBuilder trace;
        trace.info(test_support::plain_info(1e9, "INSTRUCTIONS"));
        trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                          {entry(NSLICE_KIND_START, 0, kInner, kOuter),
                           entry(NSLICE_KIND_START, 1, kInnerCount, kOuterCount)});
        std::vector<uint16_t> slices;
        for (unsigned i = 0; i <= depth; ++i)
            slices.push_back(trace.site("level" + std::to_string(i)));
        uint64_t ticks = 1000, count = 500;
        for (unsigned i = 0; i <= depth;
             ++i) { // each level takes 1000 ticks itself before the next begins
            trace.start(0, 1, slices[i], ticks, {count});
            ticks += kInner + 1000;
            count += kInnerCount + 3000;
        }
        for (unsigned i = depth + 1; i-- > 0;) {
            trace.stop(0, 1, slices[i], ticks, {count});
            ticks += kOuter - kInner;
            count += kOuterCount - kInnerCount;
        }
        const auto report = analyse(trace);
        REQUIRE(report.slices.size() == depth + 1);
        for (const nsdump::SliceReport &slice : report.slices) {
            const double levels_inside = depth - std::stod(slice.name.substr(5));
            REQUIRE(slice.values.at(0).net->mean == 1000 * (levels_inside + 1));
            REQUIRE(slice.values.at(0).self->mean == 1000);
            REQUIRE(slice.values.at(1).net->mean == 3000 * (levels_inside + 1));
            REQUIRE(slice.values.at(1).self->mean == 3000);
        }
    }
}

TEST_CASE("the interval of a mean includes sampling, clock resolution and calibration",
          "[nsdump][analyse]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0, {entry(NSLICE_KIND_START, 0, 20, 40, 0.5)},
                      26);
    const auto rx = trace.site("rx");
    uint64_t ticks = 0;
    for (int i = 0; i < 60; ++i) { // alternating 100 and 120: sd 10.08
        trace.start(0, 1, rx, ticks += 1000);
        trace.stop(0, 1, rx, ticks + (i % 2 ? 120 : 100));
    }
    const auto report = analyse(trace);
    const auto &net = *report.slices.at(0).values.at(0).net;
    const double sampling =
        (1.96 + 2.6 / 59) * net.sd / std::sqrt(60.0); // more than 60 readings may hide: 1.3
    CHECK(net.mean == 90);
    REQUIRE(net.ci95);
    CHECK(*net.ci95 == Approx(std::sqrt(sampling * sampling + 0.25)).epsilon(0.003));
    CHECK(*report.slices[0].values[0].self->ci95 ==
          Approx(*net.ci95)); // nothing inside: self equals net
}

TEST_CASE("equal readings of a coarse clock have the interval of one reading that may be missing",
          "[nsdump][analyse]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0, {entry(NSLICE_KIND_START, 0, 20, 40)}, 26);
    const auto rx = trace.site("rx");
    for (uint64_t i = 1; i <= 60; ++i) {
        trace.start(0, 1, rx, 1000 * i);
        trace.stop(0, 1, rx, 1000 * i + 104);
    }
    CHECK(*analyse(trace).slices.at(0).values.at(0).net->ci95 == Approx(26 * 3.0 / 60));
}

TEST_CASE("one value has no interval", "[nsdump][analyse]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0, {entry(NSLICE_KIND_START, 0, 20, 40, 0.5)},
                      26);
    const auto rx = trace.site("rx");
    trace.start(0, 1, rx, 1000);
    trace.stop(0, 1, rx, 1100);
    const auto report = analyse(trace);
    const nsdump::FieldReport &ticks = report.slices.at(0).values.at(0);
    CHECK(ticks.net->mean == 80);
    CHECK_FALSE(ticks.net->ci95);
    CHECK_FALSE(ticks.net->trimmed_ci95);
    CHECK_FALSE(ticks.self->ci95);
}

TEST_CASE("net per packet has the error of a ratio: variation proportional to packets is no error",
          "[nsdump][analyse]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0, {entry(NSLICE_KIND_START, 0, 20, 40)});
    const auto batch = trace.site("batch", NSLICE_KIND_INIT), rx = trace.site("rx");
    uint64_t ticks = 0;
    for (uint64_t i = 0; i < 100; ++i) { // 10 ticks per packet, batches of 1 to 50, two slices each
        const uint64_t packets = 1 + i % 50;
        trace.init(0, 1, batch, ticks += 1000, i, packets, 0);
        for (int half = 0; half < 2; ++half) {
            trace.start(0, 1, rx, ticks += 1000);
            trace.stop(0, 1, rx, ticks += 20 + 5 * packets);
        }
        trace.exit(0, 1, batch, ticks += 10);
    }
    const auto report = analyse(trace);
    const nsdump::FieldReport &field = report.slices.at(0).values.at(0);
    CHECK(*field.net->ci95 > 5); // slices differ
    CHECK(*field.per_packet->net == Approx(10));
    const double slices_per_packet = 200.0 / 2550;
    CHECK(*field.per_packet->net_ci95 ==
          Approx(3.0 / 200 * slices_per_packet)); // packets do not; one tick of the step
}

TEST_CASE("without calibration there is a raw but no net value, and the report says so",
          "[nsdump][analyse]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    const auto rx = trace.site("rx");
    trace.start(0, 1, rx, 100);
    trace.stop(0, 1, rx, 150);
    const auto report = analyse(trace);
    REQUIRE(report.slices.size() == 1);
    CHECK(report.slices[0].values[0].raw.mean == 50);
    CHECK_FALSE(report.slices[0].values[0].net);
    CHECK_FALSE(report.slices[0].values[0].self);
    CHECK_FALSE(report.slices[0].values[0].per_packet);
    CHECK_THAT(report.warnings.at(0), Contains("no calibration"));
    CHECK(report.end == "missing");
    CHECK(report.has_findings());
}

TEST_CASE("slices are listed in order of first appearance, including unpaired names",
          "[nsdump][analyse]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 50, 0, {});
    const auto a = trace.site("a"), b = trace.site("b"), c = trace.site("c");
    trace.start(0, 1, c, 100);
    trace.start(0, 1, b, 101);
    trace.stop(0, 1, b, 110);
    trace.stop(0, 1, c, 120);
    trace.stop(0, 1, a, 130);
    trace.footer(NSLICE_END_CLOSED, 200, 200);
    const auto report = analyse(trace);
    REQUIRE(report.slices.size() == 3);
    CHECK(report.slices[0].name == "b");
    CHECK(report.slices[1].name == "c");
    CHECK(report.slices[2].name == "a");
    CHECK(report.slices[2].count == 0);
    CHECK(report.classes.unmatched_stop == 1);
    CHECK_FALSE(report.has_findings());
}

TEST_CASE("an analysis that is stopped reports what it read and that it was stopped",
          "[nsdump][analyse]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    const auto rx = trace.site("rx");
    for (uint64_t i = 0; i < 300000; ++i) // alternating CPUs: one run each
        trace.mark(i % 2, 1, rx, i, i);
    nsdump::AnalyseOptions options;
    options.progress = [](uint64_t, uint64_t) { return false; };
    const auto report = analyse(trace, options);
    CHECK(report.is_interrupted);
    CHECK(report.marks.at(0).count < 300000);
    CHECK(report.marks.at(0).count > 0);
}
