// SPDX-License-Identifier: MIT
// Slices of a program's functions that are among the kernel's records, by uprobes.
#include <cmath>

#include "analyse/analyse.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using Catch::Matchers::WithinAbs;
using test_support::TraceBuilder;

namespace
{
constexpr auto k0 = uint32_t{1} << 31; // the kernel's ring of CPU 0
constexpr uint32_t kThread = 7;
constexpr uint8_t kEmulated = NSLICE_WAY_UPROBE_EMULATED << NSLICE_WAY_SHIFT,
                  kStepped = NSLICE_WAY_UPROBE_STEPPED << NSLICE_WAY_SHIFT;

// An empty macro slice reads 2 ticks and adds 3; by uprobe, 100 and 250, or 300 and 400 if the
// first instruction is stepped; a kernel pair 5 and 8.
struct Scene {
    TraceBuilder trace;
    uint16_t work, parse, lookup, irq, xmit, packet;

    Scene()
    {
        trace.info(test_support::plain_info(1e9));
        trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                          {test_support::entry(NSLICE_KIND_START, 0, 2, 3)});
        work = trace.site("work");
        packet = trace.site("packet", NSLICE_KIND_INIT);
        parse = trace.kernel_site("parse()", NSLICE_KIND_START, kEmulated);
        lookup = trace.kernel_site("lookup()", NSLICE_KIND_START, kStepped);
        irq = trace.kernel_site("irq", NSLICE_KIND_START, NSLICE_SITE_INTERRUPT);
        xmit = trace.kernel_site("xmit");
        trace.kernel_calibration(
            {{0, NSLICE_KIND_START, 0, 1, 5 * 1024, 0, 8 * 1024, 0},
             {0, NSLICE_KIND_START | kEmulated, 0, 1, 100 * 1024, 0, 250 * 1024, 0},
             {0, NSLICE_KIND_START | kStepped, 0, 1, 300 * 1024, 0, 400 * 1024, 0}});
    }
    nsdump::StatsReport report()
    {
        trace.footer(NSLICE_END_CLOSED, 1'000'000, 1'000'000);
        nsdump::TraceFile file(test_support::source_of(trace.bytes()));
        return nsdump::analyse_trace(file);
    }
};

const nsdump::SliceReport &slice_of(const nsdump::StatsReport &report, const std::string &name)
{
    for (const nsdump::SliceReport &slice : report.slices)
        if (slice.name == name)
            return slice;
    FAIL("no slice " << name);
    return report.slices.front();
}

double net_of(const nsdump::StatsReport &report, const std::string &name)
{
    return slice_of(report, name).values.at(0).net->total;
}

double self_of(const nsdump::StatsReport &report, const std::string &name)
{
    return slice_of(report, name).values.at(0).self->total;
}
} // namespace

TEST_CASE("a function nests in slices of its program, and each is corrected by its own way's costs",
          "[nsdump][function_slices]")
{
    Scene scene;
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.start(k0, kThread, scene.parse, 2000);
    scene.trace.start(k0, kThread, scene.lookup, 3000);
    scene.trace.stop(k0, kThread, scene.lookup, 4000);
    scene.trace.stop(k0, kThread, scene.parse, 6000);
    scene.trace.stop(0, kThread, scene.work, 9000);
    const nsdump::StatsReport report = scene.report();
    CHECK_FALSE(slice_of(report, "parse()").is_kernel);
    CHECK(net_of(report, "lookup()") == 1000 - 300);
    CHECK(net_of(report, "parse()") == 4000 - 100 - 400);
    CHECK(net_of(report, "work") == 8000 - 2 - 250 - 400);
    CHECK(self_of(report, "lookup()") == net_of(report, "lookup()"));
    CHECK(self_of(report, "parse()") == net_of(report, "parse()") - net_of(report, "lookup()"));
    CHECK(self_of(report, "work") == net_of(report, "work") - net_of(report, "parse()"));
}

TEST_CASE("a program's slice inside a function is subtracted from it as in any other slice",
          "[nsdump][function_slices]")
{
    Scene scene;
    scene.trace.start(k0, kThread, scene.parse, 1000);
    scene.trace.start(0, kThread, scene.work, 2000);
    scene.trace.stop(0, kThread, scene.work, 3000);
    scene.trace.stop(k0, kThread, scene.parse, 4000);
    const nsdump::StatsReport report = scene.report();
    CHECK(net_of(report, "work") == 1000 - 2);
    CHECK(net_of(report, "parse()") == 3000 - 100 - 3);
    CHECK(self_of(report, "parse()") == net_of(report, "parse()") - net_of(report, "work"));
}

TEST_CASE("interrupts and system calls inside a function are subtracted from it",
          "[nsdump][function_slices]")
{
    Scene scene;
    scene.trace.start(k0, kThread, scene.parse, 1000);
    scene.trace.start(k0, kThread, scene.irq, 1100);
    scene.trace.stop(k0, kThread, scene.irq, 1400);
    scene.trace.start(k0, kThread, scene.xmit, 1500);
    scene.trace.stop(k0, kThread, scene.xmit, 1600);
    scene.trace.stop(k0, kThread, scene.parse, 2000);
    const nsdump::StatsReport report = scene.report();
    CHECK(net_of(report, "parse()") == 1000 - 100 - (300 + 8 - 5) - 8);
    CHECK(slice_of(report, "parse()").interrupts == 1);
    CHECK(slice_of(report, "kernel:xmit").is_kernel);
}

TEST_CASE("a function belongs to the unit of its program in which it ran",
          "[nsdump][function_slices]")
{
    Scene scene;
    scene.trace.init(0, kThread, scene.packet, 900, 1, 4, 256);
    scene.trace.start(k0, kThread, scene.parse, 1000);
    scene.trace.stop(k0, kThread, scene.parse, 2000);
    const nsdump::StatsReport report = scene.report();
    CHECK(slice_of(report, "parse()").packets == 4);
}

TEST_CASE("a trace that has only functions has net values", "[nsdump][function_slices]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info(1e9));
    const uint16_t parse = trace.kernel_site("parse()", NSLICE_KIND_START, kEmulated);
    trace.kernel_calibration(
        {{0, NSLICE_KIND_START, 0, 1, 5 * 1024, 0, 8 * 1024, 0},
         {0, NSLICE_KIND_START | kEmulated, 0, 1, 100 * 1024, 0, 250 * 1024, 0}});
    trace.start(k0, kThread, parse, 1000);
    trace.start(k0, kThread, parse, 1500); // recursion
    trace.stop(k0, kThread, parse, 1800);
    trace.stop(k0, kThread, parse, 2000);
    trace.footer(NSLICE_END_CLOSED, 1'000'000, 1'000'000);
    nsdump::TraceFile file(test_support::source_of(trace.bytes()));
    const nsdump::StatsReport report = nsdump::analyse_trace(file);
    CHECK(slice_of(report, "parse()").count == 2);
    CHECK(net_of(report, "parse()") == (300 - 100) + (1000 - 100 - 250));
    CHECK(self_of(report, "parse()") == 1000 - 100 - 250);
}

TEST_CASE("a function that is left by a jump is unmatched, and its STOP missing from no other",
          "[nsdump][function_slices]")
{
    Scene scene;
    scene.trace.start(k0, kThread, scene.parse, 1000);
    scene.trace.start(k0, kThread, scene.lookup, 2000); // longjmp() into parse
    scene.trace.stop(k0, kThread, scene.parse, 3000);
    const nsdump::StatsReport report = scene.report();
    CHECK(slice_of(report, "lookup()").unmatched_start == 1);
    CHECK(net_of(report, "parse()") == 2000 - 100 - 200); // half of a stepped pair
}

TEST_CASE("slices by sleds of a program without kernel records have their own costs",
          "[nsdump][function_slices]")
{
    constexpr uint8_t kSled = 1u << NSLICE_WAY_SHIFT;
    TraceBuilder trace;
    trace.info(test_support::plain_info(1e9));
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                      {test_support::entry(NSLICE_KIND_START, 0, 2, 3),
                       test_support::entry(NSLICE_KIND_START | kSled, 0, 10, 30)});
    const uint16_t work = trace.site("work"),
                   hash = trace.site("hash()", NSLICE_KIND_START, "app.c", 1, 1, kSled);
    trace.start(0, kThread, work, 1000);
    trace.start(0, kThread, hash, 1100);
    trace.stop(0, kThread, hash, 1300);
    trace.stop(0, kThread, work, 2000);
    trace.footer(NSLICE_END_CLOSED, 1'000'000, 1'000'000);
    nsdump::TraceFile file(test_support::source_of(trace.bytes()));
    const nsdump::StatsReport report = nsdump::analyse_trace(file);
    CHECK(net_of(report, "hash()") == 200 - 10);
    CHECK(net_of(report, "work") == 1000 - 2 - 30);
    CHECK(self_of(report, "work") == net_of(report, "work") - net_of(report, "hash()"));
}

TEST_CASE("both times of a function by uprobe are on the clock's line, and its slope is a term",
          "[nsdump][function_slices]")
{
    const auto half_width = [](const std::string &name, const std::string &info) {
        Scene scene;
        scene.trace.info(info);
        uint64_t now = 1'000;
        for (int i = 0; i < 3; ++i) {
            scene.trace.start(0, kThread, scene.work, now);
            scene.trace.start(k0, kThread, scene.parse, now + 1'000);
            scene.trace.stop(k0, kThread, scene.parse, now + 10'001'000);
            scene.trace.stop(0, kThread, scene.work, now + 10'002'000);
            now += 20'000'000;
        }
        return slice_of(scene.report(), name).values.at(0).net->ci95.value();
    };
    const std::string line = "kernel.clock.residual_ns=15.0\nkernel.clock.slope_error=1e-06\n";
    CHECK_THAT(half_width("parse()", line) - half_width("parse()", ""), WithinAbs(10, 0.0005));
    CHECK_THAT(half_width("work", line) - half_width("work", ""), WithinAbs(0, 0.0005));
}

TEST_CASE("the errors of a way's costs are in the intervals of counters as in those of time",
          "[nsdump][function_slices]")
{
    constexpr uint8_t kSled = 1u << NSLICE_WAY_SHIFT;
    constexpr double kError = 4;
    const auto of_sled = [](unsigned field, double inner, double outer) {
        nslice_calibration_entry entry =
            test_support::entry(NSLICE_KIND_START | kSled, field, inner, outer, kError);
        entry.inner_ci95 = kError;
        return entry;
    };
    TraceBuilder trace;
    trace.info(test_support::plain_info(1e9, "I"));
    for (const unsigned phase : {NSLICE_CALIBRATION_START, NSLICE_CALIBRATION_END})
        trace.calibration(phase, 0, 0,
                          {test_support::entry(NSLICE_KIND_START, 0, 2, 3),
                           test_support::entry(NSLICE_KIND_START, 1, 5, 9), of_sled(0, 10, 30),
                           of_sled(1, 20, 50)});
    const uint16_t work = trace.site("work"),
                   hash = trace.site("hash()", NSLICE_KIND_START, "app.c", 1, 1, kSled);
    for (uint64_t i = 0; i < 30; ++i) {
        trace.start(0, kThread, work, 5000 * i + 1000, {1000 * i});
        trace.start(0, kThread, hash, 5000 * i + 1100, {1000 * i + 100});
        trace.stop(0, kThread, hash, 5000 * i + 1300, {1000 * i + 300});
        trace.stop(0, kThread, work, 5000 * i + 2000, {1000 * i + 900});
    }
    trace.footer(NSLICE_END_CLOSED, 1'000'000, 1'000'000);
    nsdump::TraceFile file(test_support::source_of(trace.bytes()));
    const nsdump::StatsReport report = nsdump::analyse_trace(file);
    const auto counter = [&](const std::string &name) {
        return slice_of(report, name).values.at(1);
    };
    const double of_both_ends = kError / std::sqrt(2);
    CHECK(counter("hash()").net->mean == 200 - 20);
    CHECK(counter("work").net->mean == 900 - 5 - 50);
    CHECK_THAT(counter("hash()").net->ci95.value(), WithinAbs(of_both_ends, 0.1));
    CHECK_THAT(counter("work").net->ci95.value(), WithinAbs(of_both_ends, 0.1));
    CHECK_THAT(counter("work").self->ci95.value(), WithinAbs(2 * of_both_ends, 0.1));
}
