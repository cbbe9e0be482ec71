// SPDX-License-Identifier: MIT
#include "analyse/analyse.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using test_support::TraceBuilder;

namespace
{
constexpr auto k0 = uint32_t{1} << 31, k1 = k0 | 1; // the kernel's rings of CPU 0 and 1
constexpr uint32_t kThread = 7, kOther = 9;

// A program's slice "work" and the kernel's sites; without a calibration, so that recorded times
// are subtracted unchanged.
struct Scene {
    TraceBuilder trace;
    uint16_t work, inner, irq, softirq, sends, leaves, note;

    Scene()
    {
        trace.info(test_support::plain_info(1e9));
        trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                          {test_support::entry(NSLICE_KIND_START, 0, 0, 0)});
        work = trace.site("work");
        inner = trace.site("inner");
        irq = trace.kernel_site("irq", NSLICE_KIND_START, NSLICE_SITE_INTERRUPT);
        softirq = trace.kernel_site("softirq", NSLICE_KIND_START, NSLICE_SITE_INTERRUPT);
        sends = trace.kernel_site("xmit");
        leaves = trace.kernel_site("sched_switch", NSLICE_KIND_MARK, NSLICE_SITE_SWITCH);
        note = trace.kernel_site("tx_bytes", NSLICE_KIND_MARK);
    }
    // The cost of kernel probes: a pair has 5 of its 8 ticks inside, a MARK costs 3.
    void calibrate_kernel()
    {
        for (uint32_t cpu = 0; cpu < 2; ++cpu)
            entries.insert(entries.end(), {{cpu, NSLICE_KIND_START, 0, 1, 5 * 1024, 0, 8 * 1024, 0},
                                           {cpu, NSLICE_KIND_MARK, 0, 1, 0, 0, 3 * 1024, 0}});
        trace.kernel_calibration(entries);
    }
    nsdump::StatsReport report()
    {
        trace.footer(NSLICE_END_CLOSED, 1'000'000, 1'000'000);
        nsdump::TraceFile file(test_support::source_of(trace.bytes()));
        return nsdump::analyse_trace(file);
    }

    std::vector<nslice_kernel_calibration_entry> entries;
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
    const nsdump::SliceReport &slice = slice_of(report, name);
    REQUIRE(slice.values.size() == 1);
    REQUIRE(slice.values[0].net);
    return slice.values[0].net->total;
}
} // namespace

TEST_CASE("an interrupt inside a slice is subtracted from it, with everything nested in it",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.start(k0, kThread, scene.irq, 1100);
    scene.trace.mark(k0, kThread, scene.note, 1150, 60);
    scene.trace.stop(k0, kThread, scene.irq, 1400);
    scene.trace.start(k0, kThread, scene.softirq, 1410);
    scene.trace.start(k0, kThread, scene.irq, 1420); // nested in the other one
    scene.trace.stop(k0, kThread, scene.irq, 1440);
    scene.trace.stop(k0, kThread, scene.softirq, 1510);
    scene.trace.stop(0, kThread, scene.work, 2000);
    const nsdump::StatsReport report = scene.report();
    const nsdump::SliceReport &work = slice_of(report, "work");
    CHECK(work.interrupted == 1);
    CHECK(work.interrupts == 2);
    CHECK(work.switches == 0);
    CHECK(work.taken_ticks == 400);
    CHECK(work.values[0].raw.total == 1000);
    CHECK(net_of(report, "work") == 600);
    CHECK(work.values[0].self->total == 600);
    CHECK(slice_of(report, "kernel:irq").count == 2);
    CHECK(slice_of(report, "kernel:irq").is_kernel);
}

TEST_CASE("an interrupt is subtracted from all enclosing slices, and from the innermost one's self",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.start(0, kThread, scene.inner, 1100);
    scene.trace.start(k0, kThread, scene.irq, 1200);
    scene.trace.stop(k0, kThread, scene.irq, 1250);
    scene.trace.stop(0, kThread, scene.inner, 1300);
    scene.trace.stop(0, kThread, scene.work, 1400);
    const nsdump::StatsReport report = scene.report();
    CHECK(net_of(report, "inner") == 150);
    CHECK(net_of(report, "work") == 350);
    CHECK(slice_of(report, "work").values[0].self->total == 200);
}

TEST_CASE("an interrupt whose STOP was turned off ends before the next thread switch",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.start(k0, kThread, scene.irq, 1100); // then `nsdump control` turns irq off
    scene.trace.mark(k0, kThread, scene.leaves, 1200, kOther);
    scene.trace.mark(k0, kOther, scene.leaves, 1500, kThread);
    scene.trace.stop(0, kThread, scene.work, 2000);
    const nsdump::StatsReport report = scene.report();
    const nsdump::SliceReport &work = slice_of(report, "work");
    CHECK(work.interrupts == 0);
    CHECK(work.switches == 1);
    CHECK(work.taken_ticks == 300);
}

TEST_CASE("of system calls of the program, only the cost of the kernel's probes is subtracted",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.calibrate_kernel();
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.start(k0, kThread, scene.sends, 1100);
    scene.trace.mark(k0, kThread, scene.note, 1200, 60);
    scene.trace.stop(k0, kThread, scene.sends, 1300);
    scene.trace.stop(0, kThread, scene.work, 2000);
    const nsdump::StatsReport report = scene.report();
    CHECK(net_of(report, "work") == 1000 - 8 - 3);
    CHECK(net_of(report, "kernel:xmit") == 200 - 5 - 3);
    CHECK(slice_of(report, "work").interrupted == 0);
}

TEST_CASE("the probes of an interrupt cost the enclosing slice more than the interrupt shows",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.calibrate_kernel();
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.start(k0, kThread, scene.irq, 1100);
    scene.trace.stop(k0, kThread, scene.irq, 1205);
    scene.trace.stop(0, kThread, scene.work, 2000);
    CHECK(net_of(scene.report(), "work") == 1000 - 105 - (8 - 5));
}

TEST_CASE("the time during which a thread was preempted is subtracted from its slices",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.mark(k0, kThread, scene.leaves, 1100, kOther);
    scene.trace.start(k0, kOther, scene.irq, 1150); // of the other thread
    scene.trace.stop(k0, kOther, scene.irq, 1170);
    scene.trace.mark(k0, kOther, scene.leaves, 1600, kThread);
    scene.trace.stop(0, kThread, scene.work, 2000);
    const nsdump::StatsReport report = scene.report();
    CHECK(slice_of(report, "work").switches == 1);
    CHECK(slice_of(report, "work").interrupts == 0);
    CHECK(slice_of(report, "work").interrupted == 1);
    CHECK(net_of(report, "work") == 500);
}

TEST_CASE("a kernel slice's net value excludes the interrupts inside it", "[nsdump][kernel_time]")
{
    Scene scene;
    scene.calibrate_kernel();
    scene.trace.start(k0, kThread, scene.sends, 1000);
    scene.trace.start(k0, kThread, scene.softirq, 1100);
    scene.trace.start(k0, kThread, scene.irq, 1200);
    scene.trace.stop(k0, kThread, scene.irq, 1300);
    scene.trace.stop(k0, kThread, scene.softirq, 1500);
    scene.trace.stop(k0, kThread, scene.sends, 2000);
    const nsdump::StatsReport report = scene.report();
    CHECK(net_of(report, "kernel:irq") == 100 - 5);
    CHECK(net_of(report, "kernel:softirq") == 400 - 5 - 100 - 3);
    CHECK(net_of(report, "kernel:xmit") == 1000 - 5 - 400 - 3);
    CHECK(slice_of(report, "kernel:xmit").values[0].self->total == net_of(report, "kernel:xmit"));
}

TEST_CASE("kernel counters are per CPU: interrupts are subtracted, a switch makes them useless",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.info("kernel.counters.names=instructions\n");
    scene.trace.kernel_calibration({{0, NSLICE_KIND_START, 0, 1, 0, 0, 0, 0},
                                    {0, NSLICE_KIND_START, 1, 1, 2 * 1024, 0, 7 * 1024, 0}});
    scene.trace.start(k0, kThread, scene.sends, 1000, {100});
    scene.trace.start(k0, kThread, scene.irq, 1100, {200});
    scene.trace.stop(k0, kThread, scene.irq, 1200, {262});
    scene.trace.stop(k0, kThread, scene.sends, 1300, {400});
    scene.trace.start(k0, kThread, scene.sends, 2000, {500});
    scene.trace.mark(k0, kThread, scene.leaves, 2100, kOther);
    scene.trace.mark(k0, kOther, scene.leaves, 2200, kThread);
    scene.trace.stop(k0, kThread, scene.sends, 2300, {5000});
    const nsdump::StatsReport report = scene.report();
    const nsdump::SliceReport &sends = slice_of(report, "kernel:xmit");
    REQUIRE(sends.values.size() == 2);
    CHECK(sends.values[1].field == "instructions");
    CHECK(sends.values[1].count == 1);
    CHECK(sends.values[1].raw.total == 300);
    CHECK(sends.values[1].net->total == 300 - 2 - 62 - (7 - 2));
    CHECK(sends.uncounted == 1);
}

TEST_CASE("kernel slices without counters are counted apart, also with random thinning",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.info("kernel.counters.names=instructions\n");
    scene.trace.epoch(0, 5000, {}, NSLICE_EPOCH_OF_KERNEL);
    scene.trace.start(k0, kThread, scene.sends, 1000);
    scene.trace.stop(k0, kThread, scene.sends, 1300);
    const nsdump::StatsReport report = scene.report();
    CHECK(report.classes.uncounted_kernel == 1);
    CHECK(report.classes.uncounted == 1);
}

TEST_CASE("idle threads of two CPUs have separate stacks, though both are thread 0",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(k0, 0, scene.irq, 1000);
    scene.trace.start(k1, 0, scene.irq, 1010);
    scene.trace.stop(k0, 0, scene.irq, 1100);
    scene.trace.stop(k1, 0, scene.irq, 1200);
    const nsdump::StatsReport report = scene.report();
    CHECK(slice_of(report, "kernel:irq").migrated == 0);
    CHECK(slice_of(report, "kernel:irq").values[0].raw.total == 100 + 190);
}

TEST_CASE("a slice open while the kernel lost records is left out, as its contents are unknown",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.start(k0, kThread, scene.irq, 1100);
    scene.trace.lose(k0, NSLICE_LOST_FULL, 10);
    scene.trace.start(k0, kThread, scene.irq, 1500);
    scene.trace.stop(k0, kThread, scene.irq, 1600);
    scene.trace.stop(0, kThread, scene.work, 2000);
    scene.trace.start(0, kThread, scene.work, 3000);
    scene.trace.stop(0, kThread, scene.work, 3100);
    const nsdump::StatsReport report = scene.report();
    CHECK(slice_of(report, "work").spans_loss == 1);
    CHECK(slice_of(report, "work").count == 1);
    CHECK(net_of(report, "work") == 100);
    CHECK(report.losses.issued == report.losses.drained + 10);
    CHECK(report.losses.equation_holds == true);
}

TEST_CASE("a slice opened after one loss of kernel records is left out at the next one",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.lose(k0, NSLICE_LOST_FULL, 1);
    scene.trace.mark(k0, 0, scene.leaves, 1100, kThread);
    scene.trace.stop(0, kThread, scene.work, 1200);
    scene.trace.start(0, kThread, scene.work, 1300);
    scene.trace.mark(k0, 0, scene.leaves, 1350, kThread);
    scene.trace.lose(k0, NSLICE_LOST_FULL, 1);
    scene.trace.mark(k0, 0, scene.leaves, 1400, kThread);
    scene.trace.stop(0, kThread, scene.work, 1500);
    CHECK(slice_of(scene.report(), "work").spans_loss == 2);
}

TEST_CASE("a slice between the last kernel record before a loss and the first after it is unseen",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(k0, kThread, scene.irq, 1000);
    scene.trace.stop(k0, kThread, scene.irq, 1100);
    scene.trace.lose(k0, NSLICE_LOST_FULL, 10);
    scene.trace.start(0, kThread, scene.work, 1200); // begins and ends while records are lost
    scene.trace.stop(0, kThread, scene.work, 1300);
    scene.trace.start(1, kOther, scene.work, 1200); // on a CPU without losses
    scene.trace.stop(1, kOther, scene.work, 1310);
    scene.trace.start(k1, kOther, scene.irq, 1400);
    scene.trace.stop(k1, kOther, scene.irq, 1410);
    scene.trace.start(k0, kThread, scene.irq, 1500);
    scene.trace.stop(k0, kThread, scene.irq, 1600);
    const nsdump::StatsReport report = scene.report();
    CHECK(slice_of(report, "work").spans_loss == 1);
    CHECK(slice_of(report, "work").count == 1);
    CHECK(net_of(report, "work") == 110);
}

TEST_CASE("after the kernel's last record nothing is seen if more were lost",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(k0, kThread, scene.irq, 1000);
    scene.trace.stop(k0, kThread, scene.irq, 1100);
    scene.trace.start(0, kThread, scene.work, 1200);
    scene.trace.stop(0, kThread, scene.work, 1300);
    scene.trace.lose(k0, NSLICE_LOST_FULL, 3);
    CHECK(slice_of(scene.report(), "work").spans_loss == 1);
}

TEST_CASE("a thread that was off the CPU while any kernel records were lost may be back unseen",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(0, kThread, scene.work, 1000);
    scene.trace.mark(k0, kThread, scene.leaves, 1100, kOther);
    scene.trace.start(k1, 0, scene.irq, 1200);
    scene.trace.lose(k1, NSLICE_LOST_FULL, 1);
    scene.trace.stop(k1, 0, scene.irq, 1300);
    scene.trace.mark(k0, kOther, scene.leaves, 1400, kThread);
    scene.trace.stop(0, kThread, scene.work, 1500);
    CHECK(slice_of(scene.report(), "work").spans_loss == 1);
}

namespace
{
// START + STOP of CPU 0, ten batches that are all equal.
nslice_kernel_calibration_entry pair_cost(unsigned field, int64_t inner, int64_t outer)
{
    return {
        0, NSLICE_KIND_START, static_cast<__u8>(field), 10, 10 * 1024 * inner, 0, 10 * 1024 * outer,
        0};
}

bool warns(const nsdump::StatsReport &report, const std::string &words)
{
    return std::any_of(
        report.warnings.begin(), report.warnings.end(),
        [&](const std::string &warning) { return warning.find(words) != warning.npos; });
}
} // namespace

TEST_CASE("a counter of the kernel's slices without constants is reported by its name",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.info("kernel.counters.names=instructions,cycles\n");
    scene.trace.kernel_calibration({pair_cost(0, 5, 8), pair_cost(1, 20, 30)});
    scene.trace.kernel_calibration({pair_cost(0, 5, 8), pair_cost(1, 20, 30)},
                                   NSLICE_CALIBRATION_END);
    scene.trace.start(k0, kThread, scene.sends, 1100, {1000, 2000});
    scene.trace.stop(k0, kThread, scene.sends, 1300, {1100, 2400});
    const nsdump::StatsReport report = scene.report();
    CHECK(warns(report,
                "cycles of the kernel's slices was not calibrated: only raw values are shown"));
    CHECK_FALSE(warns(report, "instructions of the kernel's slices"));
    REQUIRE(slice_of(report, "kernel:xmit").values.size() == 3);
    CHECK(slice_of(report, "kernel:xmit").values[1].net);
    CHECK_FALSE(slice_of(report, "kernel:xmit").values[2].net);
}

TEST_CASE("kernel probe constants that drifted are reported, and widen the intervals",
          "[nsdump][kernel_time]")
{
    const auto report_with = [](int64_t outer_at_end) {
        Scene scene;
        scene.trace.kernel_calibration({pair_cost(0, 50, 80)});
        scene.trace.kernel_calibration({pair_cost(0, 50, outer_at_end)}, NSLICE_CALIBRATION_END);
        scene.trace.start(k0, kThread, scene.sends, 1100);
        scene.trace.start(k0, kThread, scene.irq, 1200);
        scene.trace.stop(k0, kThread, scene.irq, 1300);
        scene.trace.stop(k0, kThread, scene.sends, 1500);
        return scene.report();
    };
    const nsdump::StatsReport same = report_with(80), moved = report_with(90);
    CHECK_FALSE(warns(same, "drift"));
    CHECK(warns(
        moved,
        "calibration drift of the kernel's probes: START outer of ticks went from 80.00 to 90.00"));
    REQUIRE(moved.drift.size() == 2);
    CHECK(moved.drift[1].is_kernel);
    CHECK(net_of(same, "kernel:xmit") == 400 - 50 - (100 + 80 - 50));
    CHECK(net_of(moved, "kernel:xmit") == 400 - 50 - (100 + 85 - 50));
}

TEST_CASE("kernel probes not calibrated at both ends, or not on each CPU, are reported",
          "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.kernel_calibration({pair_cost(0, 5, 8)});
    scene.trace.start(k1, kThread, scene.sends, 1100);
    scene.trace.stop(k1, kThread, scene.sends, 1300);
    const nsdump::StatsReport report = scene.report();
    CHECK(warns(report, "no calibration of the kernel's probes at the end of the recording: their "
                        "drift is unknown"));
    CHECK(warns(report, "the kernel's probes were not calibrated on 1 CPUs"));
    CHECK(net_of(report, "kernel:xmit") == 195);

    Scene bare;
    bare.trace.start(k1, kThread, bare.sends, 1100);
    bare.trace.stop(k1, kThread, bare.sends, 1300);
    CHECK(warns(bare.report(),
                "the kernel's probes were not calibrated: their slices have only raw values"));
}

TEST_CASE("nothing is subtracted from slices whose thread ids are of another pid namespace",
          "[nsdump][kernel_time]")
{
    for (const char *name_space :
         {"program.pid_namespace=4026532178\n", "program.pid_namespace=unknown\n", ""}) {
        Scene scene;
        scene.trace.info(name_space);
        scene.trace.start(0, kThread, scene.work, 1000);
        scene.trace.start(k0, kThread, scene.irq,
                          1100); // in another thread, which has this number outside
        scene.trace.stop(k0, kThread, scene.irq, 1200);
        scene.trace.mark(k0, kThread, scene.leaves, 1300, kOther);
        scene.trace.mark(k0, kOther, scene.leaves, 1400, kThread);
        scene.trace.lose(k0, NSLICE_LOST_FULL, 1);
        scene.trace.stop(0, kThread, scene.work, 2000);
        scene.trace.start(0, kThread, scene.work, 3000);
        scene.trace.stop(0, kThread, scene.work, 3100);
        const nsdump::StatsReport report = scene.report();
        const bool is_foreign = *name_space != 0;
        CAPTURE(name_space);
        CHECK(warns(report, "threads' numbers are not the kernel's") == is_foreign);
        CHECK(slice_of(report, "work").spans_loss == (is_foreign ? 0 : 2));
        CHECK(slice_of(report, "work").interrupts == 0);
        CHECK(slice_of(report, "kernel:irq").count == 1);
        if (is_foreign)
            CHECK(net_of(report, "work") == 1100);
    }
}

TEST_CASE("a program's slice of the same name is distinct from the kernel's",
          "[nsdump][kernel_time]")
{
    Scene scene;
    const uint16_t own = scene.trace.site("irq");
    scene.trace.start(0, kThread, own, 1000);
    scene.trace.start(k0, kThread, scene.irq, 1100);
    scene.trace.stop(
        0, kThread, own,
        1200); // an interrupt that ends after the program continued: from an inconsistent clock
    scene.trace.stop(k0, kThread, scene.irq, 1300);
    const nsdump::StatsReport report = scene.report();
    CHECK(slice_of(report, "irq").count == 1);
    CHECK(slice_of(report, "kernel:irq").count == 1);
}

TEST_CASE("missing kernel totals of a trace are a finding", "[nsdump][kernel_time]")
{
    Scene scene;
    scene.trace.start(k0, kThread, scene.irq, 1100);
    scene.trace.leave_out_kernel_totals();
    const nsdump::StatsReport report = scene.report();
    CHECK(report.losses.kernel_totals_missing);
    CHECK_FALSE(report.losses.is_issued_known());
    CHECK_FALSE(report.losses.equation_holds.has_value());
    CHECK(report.has_findings());
}
