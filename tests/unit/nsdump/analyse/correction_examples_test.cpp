// SPDX-License-Identifier: MIT
// The worked examples of libnsprobe/CORRECTION.md, read from the document and calculated by nsdump.
#include "analyse/analyse.hpp"
#include "nsdump_support.hpp"
#include "simulation/document.hpp"
#include "support/catch.hpp"

using simulation::Example;
using test_support::entry;
using test_support::TraceBuilder;

namespace
{
uint64_t whole(double value)
{
    REQUIRE(value == double(uint64_t(value)));
    return uint64_t(value);
}

nsdump::StatsReport analyse(TraceBuilder &trace)
{
    nsdump::TraceFile file(test_support::source_of(trace.bytes()));
    return nsdump::analyse_trace(file);
}

// The slice that ends last, which encloses all others.
const nsdump::FieldReport &outermost(const nsdump::StatsReport &report, size_t field = 0)
{
    for (const nsdump::SliceReport &slice : report.slices)
        if (slice.name == "outer")
            return slice.values.at(field);
    throw std::runtime_error("no slice outer");
}

// One slice of `raw` ticks around `pairs` slices, optionally with an INIT and an EXIT.
nsdump::StatsReport one_slice(const Example &example, unsigned pairs, bool has_unit,
                              const std::vector<nslice_calibration_entry> &constants)
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0, constants);
    const auto outer = trace.site("outer"), inner = trace.site("inner"), unit = trace.site("unit");
    uint64_t ticks = 1000;
    trace.start(0, 1, outer, ticks);
    if (has_unit)
        trace.init(0, 1, unit, ticks + 1, 0, 1, 64);
    for (unsigned i = 0; i < pairs; ++i) {
        trace.start(0, 1, inner, ticks + 10 + 2 * i);
        trace.stop(0, 1, inner, ticks + 11 + 2 * i);
    }
    if (has_unit)
        trace.exit(0, 1, unit, ticks + 100);
    trace.stop(0, 1, outer, ticks + whole(example["raw"]));
    return analyse(trace);
}
} // namespace

TEST_CASE("CORRECTION.md, example 1: nothing inside, equation (1)", "[nsdump][correction]")
{
    const Example example(1);
    const auto report =
        one_slice(example, 0, false, {entry(NSLICE_KIND_START, 0, example["inner"], 0)});
    CHECK(outermost(report).net->mean == Approx(example["net"]));
}

TEST_CASE("CORRECTION.md, example 2: slices inside, equation (3) with the constants of 2001",
          "[nsdump][correction]")
{
    const Example example(2);
    const auto report =
        one_slice(example, unsigned(whole(example["K"])), false,
                  {entry(NSLICE_KIND_START, 0, example["T_NSO"], example["T_NSA"])});
    CHECK(outermost(report).net->mean == Approx(example["net"]));
}

TEST_CASE("CORRECTION.md, example 3: a unit inside, equation (5) with the constants of 2001",
          "[nsdump][correction]")
{
    const Example example(3);
    const auto report = one_slice(example, unsigned(whole(example["K"])), true,
                                  {entry(NSLICE_KIND_START, 0, example["T_NSO"], example["T_NSA"]),
                                   entry(NSLICE_KIND_INIT, 0, 0, example["T_NSI"]),
                                   entry(NSLICE_KIND_EXIT, 0, 0, example["T_NSE"])});
    CHECK(outermost(report).net->mean == Approx(example["net"]));
}

TEST_CASE("CORRECTION.md, example 4: a counter, equation (4) and a MARK", "[nsdump][correction]")
{
    const Example example(4);
    TraceBuilder trace;
    trace.info(test_support::plain_info(1e9, "instructions"));
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                      {entry(NSLICE_KIND_START, 0, 1, 2),
                       entry(NSLICE_KIND_START, 1, example["inner"], example["outer"]),
                       entry(NSLICE_KIND_MARK, 1, 0, example["outer of MARK"])});
    const auto outer = trace.site("outer"), inner = trace.site("inner");
    trace.start(0, 1, outer, 1000, {5000});
    for (uint64_t i = 0; i < whole(example["K"]); ++i) {
        trace.start(0, 1, inner, 1010 + 10 * i, {5100 + 20 * i});
        trace.stop(0, 1, inner, 1015 + 10 * i, {5110 + 20 * i});
    }
    trace.mark(0, 1, inner, 1200, 7);
    trace.stop(0, 1, outer, 1500, {5000 + whole(example["raw"])});
    CHECK(outermost(analyse(trace), 1).net->mean == Approx(example["net"]));
}

TEST_CASE("CORRECTION.md, example 5: the two ends of a session", "[nsdump][correction]")
{
    const Example example(5);
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    auto start = entry(NSLICE_KIND_START, 0, example["start"], 50, example["start ci95"]);
    auto end = entry(NSLICE_KIND_START, 0, example["end"], 50, example["end ci95"]);
    start.degrees = end.degrees = uint16_t(whole(example["degrees"]));
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0, {start});
    trace.mark(0, 1, 1, 10, 0);
    trace.calibration(NSLICE_CALIBRATION_END, 100, 100, {end});
    nsdump::TraceFile file(test_support::source_of(trace.bytes()));
    const nsdump::Correction correction(file);
    CHECK(correction.of(0, 0).inner == Approx(example["inner"]));
    CHECK(correction.of(0, 0).inner_ci95 == Approx(example["ci95"]).margin(0.0006));
    CHECK(correction.of(0, 0).degrees[nsdump::kPair] ==
          Approx(example["degrees together"]).margin(0.06));
    CHECK(correction.of(0, 0).inner_bound == Approx(example["moved"]).margin(0.0006));
    CHECK(correction.drift().at(0).is_significant);
}

TEST_CASE("CORRECTION.md, example 6: the interval of a mean", "[nsdump][correction]")
{
    const Example example(6);
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                      {entry(NSLICE_KIND_START, 0, example["inner"], 50, example["inner ci95"])},
                      example["step"]);
    const auto outer = trace.site("outer");
    uint64_t ticks = 1000;
    for (uint64_t i = 0; i < whole(example["n"]); ++i) {
        trace.start(0, 1, outer, ticks += 1000);
        trace.stop(0, 1, outer, ticks + whole(i % 2 ? example["odd raw"] : example["even raw"]));
    }
    const auto report = analyse(trace);
    const nsdump::Distribution &net = *outermost(report).net;
    CHECK(net.mean == Approx(example["net"]));
    CHECK(net.sd == Approx(example["sd"]).margin(0.0006));
    const double t = 1.96 + 2.6 / (example["n"] - 1);
    CHECK(t * net.sd / std::sqrt(example["n"]) == Approx(example["sampling ci95"]).margin(0.0006));
    CHECK(example["step"] * 3 / example["n"] == Approx(example["rounding ci95"]).margin(0.0006));
    CHECK(net.ci95.value_or(0) == Approx(example["net ci95"]).margin(0.0006));
}

TEST_CASE("CORRECTION.md, example 7: below noise", "[nsdump][correction]")
{
    const Example example(7);
    const auto report =
        one_slice(example, 0, false, {entry(NSLICE_KIND_START, 0, example["inner"], 50)});
    CHECK(outermost(report).net->mean == Approx(example["net"]));
    CHECK(report.classes.below_noise == 1);
    CHECK(outermost(report).count == 1); // it stays in the statistics
}

TEST_CASE("CORRECTION.md, example 8: net per packet", "[nsdump][correction]")
{
    const Example example(8);
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                      {entry(NSLICE_KIND_START, 0, example["inner"], 50)});
    const auto unit = trace.site("unit"), outer = trace.site("outer");
    uint64_t ticks = 1000;
    for (const char *number : {"1", "2", "3"}) {
        const std::string name = std::string(" of unit ") + number;
        trace.init(0, 1, unit, ticks += 100, 0, whole(example["packets" + name]), 64);
        trace.start(0, 1, outer, ticks += 100);
        trace.stop(0, 1, outer, ticks += whole(example["raw" + name]));
        trace.exit(0, 1, unit, ticks += 100);
    }
    const auto report = analyse(trace);
    const nsdump::PerPacket &packet = *outermost(report).per_packet;
    CHECK(packet.net.value_or(0) == Approx(example["net per packet"]));
    CHECK(packet.net_ci95.value_or(0) == Approx(example["net per packet ci95"]).margin(0.0006));
}
