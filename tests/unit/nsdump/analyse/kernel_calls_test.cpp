// SPDX-License-Identifier: MIT
// Records that follow others in a BPF program cost less than those with the call of their program.
#include <algorithm>

#include "analyse/analyse.hpp"
#include "analyse/correct/kernel_rows.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using Catch::Matchers::WithinAbs;
using test_support::TraceBuilder;

namespace
{
constexpr auto kCpu = uint32_t{1} << 31; // the kernel's ring of CPU 0
constexpr uint32_t kThread = 7;
constexpr unsigned kInProgram = NSLICE_SITE_IN_PROGRAM;

// In a program a record costs 10 ticks, 4 of them before it reads the clock; the call of a program
// costs 20 before its first record and 30 after its last one.
constexpr int64_t kBefore = 4, kAfter = 6, kEntry = 20, kReturn = 30, kCall = kEntry + kReturn,
                  kRecord = kBefore + kAfter;

nslice_kernel_calibration_entry cost(unsigned kind, int64_t inner, int64_t outer)
{
    return {0, uint8_t(kind), 0, 1, inner * 1024, 0, outer * 1024, 0};
}

// A kernel thread that executes programs and its own work.
struct Scene {
    TraceBuilder trace;
    uint64_t now = 1000;
    uint16_t work;

    Scene()
    {
        trace.info(test_support::plain_info(1e9));
        trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                          {test_support::entry(NSLICE_KIND_START, 0, 0, 0)});
        work = trace.site("work");
    }
    void calibrate()
    {
        std::vector<nslice_kernel_calibration_entry> entries;
        for (const unsigned kind : {NSLICE_KIND_MARK, NSLICE_KIND_INIT, NSLICE_KIND_EXIT}) {
            entries.push_back(cost(kind, 0, kRecord + kCall));
            entries.push_back(cost(kind | NSLICE_ENTRY_IN_PROGRAM, 0, kRecord));
        }
        entries.push_back(cost(NSLICE_KIND_START, kRecord + kCall, 2 * (kRecord + kCall)));
        entries.push_back(cost(NSLICE_KIND_START | NSLICE_ENTRY_IN_PROGRAM, kRecord, 2 * kRecord));
        trace.kernel_calibration(entries);
    }
    void runs(int64_t ticks) { now += uint64_t(ticks); }
    void call() { runs(kEntry); }
    void leave() { runs(kReturn); }
    void writes(unsigned kind, uint16_t site)
    {
        const uint64_t words[] = {1, 1, 60};
        const size_t count = kind == NSLICE_KIND_MARK ? 1 : kind == NSLICE_KIND_INIT ? 3 : 0;
        runs(kBefore);
        trace.record(kCpu, kThread, kind, site, now, words, count);
        runs(kAfter);
    }
    // A program with one record.
    void program(unsigned kind, uint16_t site)
    {
        call();
        writes(kind, site);
        leave();
    }
    nsdump::StatsReport report()
    {
        trace.footer(NSLICE_END_CLOSED, 1'000'000, 1'000'000);
        nsdump::TraceFile file(test_support::source_of(trace.bytes()));
        return nsdump::analyse_trace(file);
    }
};

const nsdump::FieldReport &ticks_of(const nsdump::StatsReport &report, const std::string &name)
{
    for (const nsdump::SliceReport &slice : report.slices)
        if (slice.name == name && slice.values.size() == 1)
            return slice.values[0];
    FAIL("no slice " << name);
    return report.slices.front().values.front();
}
} // namespace

TEST_CASE("net and self are the work itself, whichever records share a program",
          "[nsdump][kernel_calls]")
{
    Scene scene;
    scene.calibrate();
    TraceBuilder &trace = scene.trace;
    const uint16_t call = trace.kernel_site("send_call"),
                   call_stop = trace.kernel_site("send_call", NSLICE_KIND_STOP, kInProgram),
                   ip = trace.kernel_site("tcp_ip", NSLICE_KIND_START, kInProgram),
                   ip_first = trace.kernel_site("tcp_ip"),
                   ip_stop = trace.kernel_site("tcp_ip", NSLICE_KIND_STOP),
                   unit = trace.kernel_site("tcp_send", NSLICE_KIND_INIT, kInProgram),
                   exits = trace.kernel_site("tcp_send", NSLICE_KIND_EXIT),
                   sent = trace.kernel_site("sent", NSLICE_KIND_MARK);
    scene.call();
    scene.writes(NSLICE_KIND_START, call);
    scene.writes(NSLICE_KIND_START, ip);
    scene.leave();
    scene.runs(100); // tcp_ip
    scene.call();
    scene.writes(NSLICE_KIND_STOP, ip_stop);
    scene.writes(NSLICE_KIND_INIT, unit);
    scene.leave();
    scene.runs(200); // send_call alone, from here on
    scene.program(NSLICE_KIND_EXIT, exits);
    scene.program(NSLICE_KIND_MARK, sent);
    scene.runs(7);
    scene.program(NSLICE_KIND_START, ip_first);
    scene.runs(40); // tcp_ip again
    scene.call();
    scene.writes(NSLICE_KIND_STOP, ip_stop);
    scene.writes(NSLICE_KIND_STOP, call_stop);
    scene.leave();
    const nsdump::StatsReport report = scene.report();
    CHECK_THAT(ticks_of(report, "kernel:tcp_ip").net->total, WithinAbs(140, 0.01));
    CHECK_THAT(ticks_of(report, "kernel:send_call").net->total,
               WithinAbs(100 + 200 + 7 + 40, 0.01));
    CHECK_THAT(ticks_of(report, "kernel:send_call").self->total, WithinAbs(200 + 7, 0.01));
}

TEST_CASE("a slice inside one program has only the cost of its records subtracted",
          "[nsdump][kernel_calls]")
{
    Scene scene;
    scene.calibrate();
    TraceBuilder &trace = scene.trace;
    const uint16_t outer = trace.kernel_site("verdict", NSLICE_KIND_START, kInProgram),
                   outer_stop = trace.kernel_site("verdict", NSLICE_KIND_STOP, kInProgram),
                   inner = trace.kernel_site("lookup", NSLICE_KIND_START, kInProgram),
                   inner_stop = trace.kernel_site("lookup", NSLICE_KIND_STOP, kInProgram),
                   mark = trace.kernel_site("bytes", NSLICE_KIND_MARK, kInProgram);
    for (int i = 0; i < 3; ++i) {
        scene.writes(NSLICE_KIND_START, outer);
        scene.runs(30);
        scene.writes(NSLICE_KIND_START, inner);
        scene.runs(11);
        scene.writes(NSLICE_KIND_STOP, inner_stop);
        scene.writes(NSLICE_KIND_MARK, mark);
        scene.writes(NSLICE_KIND_STOP, outer_stop);
    }
    const nsdump::StatsReport report = scene.report();
    CHECK_THAT(ticks_of(report, "kernel:lookup").net->mean, WithinAbs(11, 0.01));
    CHECK_THAT(ticks_of(report, "kernel:verdict").net->mean, WithinAbs(41, 0.01));
    CHECK_THAT(ticks_of(report, "kernel:verdict").self->mean, WithinAbs(30, 0.01));
}

TEST_CASE("an interrupt takes its time and its programs' from a program's slice",
          "[nsdump][kernel_calls]")
{
    const auto taken_from_work = [](bool has_number) {
        Scene scene;
        scene.calibrate();
        TraceBuilder &trace = scene.trace;
        const uint16_t number = trace.kernel_site("irq_number", NSLICE_KIND_MARK),
                       irq = trace.kernel_site("irq", NSLICE_KIND_START,
                                               NSLICE_SITE_INTERRUPT |
                                                   (has_number ? NSLICE_SITE_IN_PROGRAM : 0u)),
                       irq_stop = trace.kernel_site("irq", NSLICE_KIND_STOP, NSLICE_SITE_INTERRUPT);
        trace.start(0, kThread, scene.work, scene.now);
        scene.runs(300);
        scene.call();
        if (has_number)
            scene.writes(NSLICE_KIND_MARK, number);
        scene.writes(NSLICE_KIND_START, irq);
        scene.leave();
        scene.runs(55);
        scene.program(NSLICE_KIND_STOP, irq_stop);
        scene.runs(20);
        trace.stop(0, kThread, scene.work, scene.now);
        return ticks_of(scene.report(), "work").net->total;
    };
    CHECK_THAT(taken_from_work(true), WithinAbs(320, 0.01));
    CHECK_THAT(taken_from_work(false), WithinAbs(320, 0.01));
}

TEST_CASE("the error of the call is in the interval of slices with calls only",
          "[nsdump][kernel_calls]")
{
    const auto half_width = [](bool has_calls) {
        Scene scene;
        auto with_calls = cost(NSLICE_KIND_START, 60, 120);
        with_calls.batches = 11;
        with_calls.inner_sum *= 11;
        with_calls.outer_sum *= 11;
        with_calls.outer_squares = int64_t{110} * 4 * 1024 * 1024; // standard error 2
        auto in_program = cost(NSLICE_KIND_START | NSLICE_ENTRY_IN_PROGRAM, 10, 20);
        scene.trace.kernel_calibration({with_calls, in_program});
        const unsigned flags = has_calls ? 0 : NSLICE_SITE_IN_PROGRAM;
        const uint16_t site = scene.trace.kernel_site("poll", NSLICE_KIND_START, flags),
                       stop = scene.trace.kernel_site("poll", NSLICE_KIND_STOP, flags);
        for (int i = 0; i < 300; ++i) {
            scene.trace.record(kCpu, kThread, NSLICE_KIND_START, site, scene.now, nullptr, 0);
            scene.runs(100);
            scene.trace.record(kCpu, kThread, NSLICE_KIND_STOP, stop, scene.now, nullptr, 0);
        }
        return *ticks_of(scene.report(), "kernel:poll").net->ci95;
    };
    CHECK_THAT(half_width(true) - half_width(false), WithinAbs(2.228, 0.05));
}

TEST_CASE("without costs inside programs each record has the cost of its entry, as of the module",
          "[nsdump][kernel_calls]")
{
    Scene scene;
    scene.trace.kernel_calibration(
        {cost(NSLICE_KIND_START, 60, 120), cost(NSLICE_KIND_MARK, 0, 60)});
    const uint16_t site = scene.trace.kernel_site("poll"),
                   stop = scene.trace.kernel_site("poll", NSLICE_KIND_STOP, kInProgram),
                   mark = scene.trace.kernel_site("bytes", NSLICE_KIND_MARK, kInProgram);
    scene.program(NSLICE_KIND_START, site);
    scene.runs(500);
    scene.program(NSLICE_KIND_MARK, mark);
    scene.program(NSLICE_KIND_STOP, stop);
    CHECK_THAT(ticks_of(scene.report(), "kernel:poll").net->total, WithinAbs(500, 0.01));
}

TEST_CASE("a record right behind another one costs what nothing hides, and its bound is gone",
          "[nsdump][kernel_calls]")
{
    // Work hides 4 of a record's 10 ticks.
    const auto slice_with = [](bool is_behind) {
        Scene scene;
        scene.trace.kernel_calibration(
            {cost(NSLICE_KIND_START, 60, 120),
             cost(NSLICE_KIND_START | NSLICE_ENTRY_IN_PROGRAM, 6, 12),
             cost(NSLICE_KIND_START | NSLICE_ENTRY_IN_PROGRAM | NSLICE_ENTRY_ALONE, 10, 20)});
        const uint16_t outer = scene.trace.kernel_site("outer", NSLICE_KIND_START, kInProgram),
                       outer_stop = scene.trace.kernel_site("outer", NSLICE_KIND_STOP, kInProgram),
                       inner = scene.trace.kernel_site("inner", NSLICE_KIND_START, kInProgram),
                       inner_stop = scene.trace.kernel_site("inner", NSLICE_KIND_STOP, kInProgram);
        const auto write = [&](unsigned kind, uint16_t site, uint64_t after) {
            scene.runs(int64_t(after));
            scene.trace.record(kCpu, kThread, kind, site, scene.now, nullptr, 0);
        };
        for (int i = 0; i < 2; ++i) {
            write(NSLICE_KIND_START, outer, 500);
            write(NSLICE_KIND_START, inner, 100 + 6);
            write(NSLICE_KIND_STOP, inner_stop, is_behind ? 10 : 30 + 6);
            write(NSLICE_KIND_STOP, outer_stop, 50 + 6);
        }
        return scene.report();
    };
    const nsdump::StatsReport empty = slice_with(true), filled = slice_with(false);
    CHECK_THAT(ticks_of(empty, "kernel:inner").net->mean, WithinAbs(0, 0.01));
    CHECK_THAT(ticks_of(empty, "kernel:outer").net->mean, WithinAbs(150, 0.01));
    CHECK_THAT(ticks_of(empty, "kernel:outer").self->mean, WithinAbs(150, 0.01));
    CHECK_THAT(ticks_of(filled, "kernel:inner").net->mean, WithinAbs(30, 0.01));
    CHECK_THAT(ticks_of(filled, "kernel:outer").net->mean, WithinAbs(180, 0.01));
    const auto half_width = [](const nsdump::StatsReport &report, const char *name) {
        return *ticks_of(report, name).net->ci95;
    };
    CHECK_THAT(half_width(filled, "kernel:inner") - half_width(empty, "kernel:inner"),
               WithinAbs(4, 0.1));
    CHECK_THAT(half_width(filled, "kernel:outer") - half_width(empty, "kernel:outer"),
               WithinAbs(4, 0.1));
}

TEST_CASE("the slope of the clock's line is a term of long slices, up to the error of both ends",
          "[nsdump][kernel_calls]")
{
    const auto half_width = [](int64_t ticks, const std::string &info) {
        Scene scene;
        scene.trace.kernel_calibration({cost(NSLICE_KIND_START, 0, 0)});
        scene.trace.info(info);
        const uint16_t site = scene.trace.kernel_site("wait"),
                       stop = scene.trace.kernel_site("wait", NSLICE_KIND_STOP);
        for (int i = 0; i < 3; ++i) {
            scene.trace.record(kCpu, kThread, NSLICE_KIND_START, site, scene.now, nullptr, 0);
            scene.runs(ticks);
            scene.trace.record(kCpu, kThread, NSLICE_KIND_STOP, stop, scene.now, nullptr, 0);
        }
        return *ticks_of(scene.report(), "kernel:wait").net->ci95;
    };
    const std::string line = "kernel.clock.residual_ns=15.0\nkernel.clock.slope_error=1e-06\n";
    for (const auto &[ticks, bound] :
         {std::pair<int64_t, double>{1'000, 0.001}, {10'000'000, 10}, {1'000'000'000, 30}})
        CHECK_THAT(half_width(ticks, line) - half_width(ticks, ""), WithinAbs(bound, 0.0005));
}

TEST_CASE("programs that the kernel did not run are named with their numbers",
          "[nsdump][kernel_calls]")
{
    Scene scene;
    scene.trace.info("kernel.recorder.missed=5\nkernel.recorder.missed.irq_irq_handler_entry=2\n"
                     "kernel.recorder.missed.sched_sched_switch=3\n");
    scene.program(NSLICE_KIND_MARK, scene.trace.kernel_site("bytes", NSLICE_KIND_MARK));
    const std::vector<std::string> warnings = scene.report().warnings;
    CHECK(std::ranges::count_if(warnings, [](const std::string &warning) {
              return warning.find("5 times (irq_irq_handler_entry 2, sched_sched_switch 3)") !=
                     std::string::npos;
          }) == 1);
}

TEST_CASE("between an empty pair's reading and one with work, a record is behind in proportion",
          "[nsdump][kernel_calls]")
{
    nsdump::KernelCalibration calibration;
    calibration.entries = {
        cost(NSLICE_KIND_START | NSLICE_ENTRY_IN_PROGRAM, 60, 120),
        cost(NSLICE_KIND_START | NSLICE_ENTRY_IN_PROGRAM | NSLICE_ENTRY_ALONE, 100, 200)};
    const nsdump::BpfCosts costs = nsdump::bpf_costs({calibration});
    constexpr uint32_t kWhole = nsdump::ProgramCounts::kBehindParts;
    CHECK(costs.behind(90) == kWhole);
    CHECK(costs.behind(100) == kWhole);
    CHECK(costs.behind(114) == kWhole / 2);
    CHECK(costs.behind(128) == 0);
    CHECK(costs.behind(1000) == 0);
}

TEST_CASE("without costs of records alone, none is right behind another", "[nsdump][kernel_calls]")
{
    nsdump::KernelCalibration calibration;
    calibration.entries = {cost(NSLICE_KIND_START | NSLICE_ENTRY_IN_PROGRAM, 60, 120)};
    CHECK(nsdump::bpf_costs({calibration}).behind(1) == 0);
}

TEST_CASE("records that programs forged are reported", "[nsdump][kernel_calls]")
{
    Scene scene;
    scene.trace.info("kernel.recorder.foreign=7\n");
    scene.program(NSLICE_KIND_MARK, scene.trace.kernel_site("bytes", NSLICE_KIND_MARK));
    const std::vector<std::string> warnings = scene.report().warnings;
    CHECK(std::ranges::count_if(warnings, [](const std::string &warning) {
              return warning.starts_with("7 records that BPF programs wrote");
          }) == 1);
}
