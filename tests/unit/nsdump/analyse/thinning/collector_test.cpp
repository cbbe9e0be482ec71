// SPDX-License-Identifier: MIT
#include "analyse/thinning/collector.hpp"

#include <memory>

#include "support/catch.hpp"
#include "thinning/collected.hpp"

using namespace test_support;
using nsdump::LeftOut;

namespace
{
constexpr uint64_t kEpoch = 1'000'000; // ticks: 1 ms at the fixture's rate

// Two epochs: from 0 with everything on, and from kEpoch with `inner` off.
struct Trace : TraceBuilder {
    uint16_t outer = 0, inner = 0, mark_id = 0;

    Trace()
    {
        info(plain_info());
        outer = site("outer");
        inner = site("inner");
        mark_id = site("mark", NSLICE_KIND_MARK);
        epoch(0, kEpoch - 10, {});
        epoch(kEpoch, 2 * kEpoch, {inner});
    }
    // A slice with another one inside.
    void pair(uint64_t at, uint32_t thread = 1, bool has_inner = true)
    {
        start(0, thread, outer, at);
        if (has_inner) {
            start(0, thread, inner, at + 10);
            stop(0, thread, inner, at + 20);
        }
        stop(0, thread, outer, at + 50);
    }
};
} // namespace

TEST_CASE("a slice in one epoch is counted in the cell of what was off", "[nsdump][thinning]")
{
    Trace trace;
    trace.pair(100);
    trace.pair(200);
    trace.pair(kEpoch + 100, 1, false);
    const Collected seen(trace);
    const auto &outer = seen.of("outer");
    CHECK(outer.accepted == 3);
    REQUIRE(outer.cells.size() == 2);
    CHECK(outer.cells[0]->count() == 2);
    CHECK(outer.cells[0]->mean() == 50);
    REQUIRE(outer.cells[0]->inside().size() == 1);
    CHECK(outer.cells[0]->inside()[0].pairs == 2);
    CHECK(outer.cells[0]->inside()[0].direct == 2);
    CHECK(outer.cells[1]->count() == 1);
    CHECK(outer.cells[1]->inside().empty());
}

TEST_CASE("slices of many names are counted in the same cells as those of few",
          "[nsdump][thinning]")
{
    constexpr int kSlices = 700; // in each epoch; more than a list holds
    const auto seen_with = [](int others) {
        Trace trace;
        for (uint64_t i = 0; i < uint64_t(others); ++i) {
            const uint16_t other = trace.site("other" + std::to_string(i));
            trace.start(0, 1, other, 10 + 2 * i);
            trace.stop(0, 1, other, 11 + 2 * i);
        }
        for (uint64_t i = 0; i < 2 * kSlices; ++i) {
            const uint64_t at = i / kSlices * kEpoch + 1000 + i % kSlices * 1000;
            trace.start(0, 1, trace.outer, at);
            trace.stop(0, 1, trace.outer, at + 100 + i % 37);
        }
        trace.pair(2 * kEpoch - 200, 1, false);
        return std::make_unique<Collected>(trace);
    };
    const auto few = seen_with(1), many = seen_with(200);
    REQUIRE(many->of("outer").cells.size() == 2);
    for (size_t set = 0; set < 2; ++set) {
        const nsdump::Cell &a = *few->of("outer").cells[set], &b = *many->of("outer").cells[set];
        CHECK(b.count() == kSlices + set);
        CHECK(a.count() == b.count());
        CHECK(a.mean() == b.mean());
        CHECK(a.kept() == b.kept());
        CHECK(a.trimmed().variance(a.count()) == b.trimmed().variance(b.count()));
        REQUIRE(b.middle().clusters().size() == 1);
        CHECK(a.middle().clusters()[0].sum == b.middle().clusters()[0].sum);
    }
}

TEST_CASE("sums of many names inside slices are kept apart", "[nsdump][thinning]")
{
    nsdump::InsideSums sums;
    for (int round = 0; round < 2; ++round)
        for (nsdump::NameId name = 0; name < 1000; ++name)
            sums.add({name * 64, name, 1, 2});
    REQUIRE(sums.size() == 1000);
    for (nsdump::NameId name = 0; name < 1000; ++name) {
        REQUIRE(sums[name].name == name * 64);
        REQUIRE(sums.find(name * 64)->pairs == 2 * name);
        REQUIRE(sums.find(name * 64 + 1) == nullptr);
    }
}

TEST_CASE("a START is close if a START or STOP of its thread is within the given distance",
          "[nsdump][thinning]")
{
    Trace trace;
    trace.pair(100);    // the inner START is 10 after the outer one
    trace.pair(170);    // the outer START is 20 after a STOP
    trace.pair(241);    // 21
    trace.pair(300, 2); // another thread's first record
    const Collected seen(trace, 20);
    CHECK(seen.starts_of("outer").count == 4);
    CHECK(seen.starts_of("outer").close == 1);
    CHECK(seen.starts_of("outer").close_ticks == 20);
    CHECK(seen.starts_of("inner").count == 4);
    CHECK(seen.starts_of("inner").close == 4);
    CHECK(seen.starts_of("inner").close_ticks == 40);
    CHECK(seen.starts_of("outer").after_stop == 1);
    CHECK(seen.starts_of("outer").after_work == 0);
    CHECK(seen.starts_of("inner").after_stop == 0);
    CHECK_FALSE(seen.starts_of("inner").show_gap());
}

TEST_CASE("a START is after work if the STOP before it is that of a slice without records inside",
          "[nsdump][thinning]")
{
    Trace trace;
    for (uint64_t i = 0; i < 4; ++i)
        trace.pair(kEpoch + 1000 + 70 * i, 1, false); // 20 after the STOP of the one before
    trace.start(0, 1, trace.outer, kEpoch + 2000);
    trace.start(0, 1, trace.mark_id, kEpoch + 2010); // has no STOP
    trace.stop(0, 1, trace.outer, kEpoch + 2050);
    trace.pair(kEpoch + 2060, 1, false);
    const Collected seen(trace, 20);
    CHECK(seen.starts_of("outer").count == 6);
    CHECK(seen.starts_of("outer").after_stop == 4);
    CHECK(seen.starts_of("outer").after_work == 3);
    CHECK(seen.starts_of("outer").after_work_ticks == 60);
    CHECK(seen.starts_of("outer").show_gap());
    CHECK(seen.starts_of("outer").after_same == 4);
    CHECK(seen.starts_of("outer").after_same_work == 3);
    CHECK(seen.starts_of("outer").after_same_work_ticks == 60);
    CHECK_FALSE(seen.starts_of("outer").show_own_gap()); // too few
}

TEST_CASE("slices that straddle a boundary are left out, with or without their partner",
          "[nsdump][thinning]")
{
    Trace trace;
    trace.start(0, 1, trace.outer, kEpoch - 100); // its STOP is in the next epoch
    trace.start(0, 1, trace.inner, kEpoch - 50);  // its STOP is off
    trace.stop(0, 1, trace.outer, kEpoch + 50);
    trace.pair(kEpoch + 200, 1, false);
    trace.start(0, 1, trace.outer, 3 * kEpoch); // after the last epoch
    trace.stop(0, 1, trace.outer, 3 * kEpoch + 10);
    trace.stop(0, 1, trace.inner, 3 * kEpoch + 20); // its START was off
    const Collected seen(trace);
    CHECK(seen.of("outer").accepted == 1);
    CHECK(seen.left_out("outer", LeftOut::kStraddling) == 1);
    CHECK(seen.left_out("outer", LeftOut::kOutside) == 1);
    CHECK(seen.of("outer").inside.empty()); // nothing is known to have been inside
}

TEST_CASE("a slice with an unmatched START or STOP inside is not nested", "[nsdump][thinning]")
{
    Trace trace;
    trace.start(0, 1, trace.outer, 100);
    trace.start(0, 1, trace.inner, 110); // returns early
    trace.stop(0, 1, trace.outer, 150);
    trace.start(0, 1, trace.outer, 200);
    trace.stop(0, 1, trace.inner, 210);
    trace.stop(0, 1, trace.outer, 250);
    const Collected seen(trace);
    CHECK(seen.of("outer").accepted == 0);
    CHECK(seen.left_out("outer", LeftOut::kNotNested) == 2);
}

TEST_CASE("a record of a probe that is off makes the slices around it untrustworthy",
          "[nsdump][thinning]")
{
    Trace trace;
    trace.start(0, 1, trace.outer, kEpoch);
    trace.start(0, 1, trace.inner, kEpoch + 1000); // a few microseconds after the boundary
    trace.stop(0, 1, trace.inner, kEpoch + 1010);
    trace.stop(0, 1, trace.outer, kEpoch + 1020);
    trace.pair(kEpoch + 2000, 1, false);
    const Collected seen(trace);
    CHECK(seen.left_out("outer", LeftOut::kOff) == 1);
    CHECK(seen.left_out("inner", LeftOut::kOff) == 1);
    CHECK(seen.of("outer").accepted == 1);
    CHECK(seen.slices().distrusted_threads() == 0);
}

TEST_CASE("the first record of a thread in an epoch may be late, if it was preempted in the probe",
          "[nsdump][thinning]")
{
    Trace trace;
    trace.start(0, 1, trace.inner, kEpoch + kEpoch / 2);
    trace.pair(kEpoch + kEpoch / 2 + 100, 1, false);
    const Collected seen(trace);
    CHECK(seen.slices().distrusted_threads() == 0);
    CHECK(seen.of("outer").accepted == 1);
}

TEST_CASE("a thread whose probes are not switched, as after fork(), is left out from then on",
          "[nsdump][thinning]")
{
    Trace trace;
    trace.pair(kEpoch + 100'000, 1);
    trace.pair(kEpoch + 200'000, 1, false);
    trace.pair(kEpoch + 300'000, 2, false);
    const Collected seen(trace);
    CHECK(seen.slices().distrusted_threads() == 1);
    CHECK(seen.left_out("outer", LeftOut::kThread) == 2);
    CHECK(seen.of("outer").accepted == 1);
    CHECK_FALSE(seen.is_trusted(1));
    CHECK(seen.is_trusted(2));
}

TEST_CASE("slices that are open while records are lost are left out", "[nsdump][thinning]")
{
    Trace trace;
    trace.start(0, 1, trace.outer, 100);
    trace.lose(0, NSLICE_LOST_FULL, 3);
    trace.stop(0, 1, trace.outer, 200);
    trace.pair(300);
    const Collected seen(trace);
    CHECK(seen.left_out("outer", LeftOut::kLoss) == 1);
    CHECK(seen.of("outer").accepted == 1);
}

TEST_CASE("slices that are open over a pause are left out, on all CPUs", "[nsdump][thinning]")
{
    Trace trace;
    trace.start(0, 1, trace.outer, 100);
    trace.leave_out(3);
    trace.start(1, 2, trace.inner, 150);
    trace.stop(1, 2, trace.inner, 160);
    trace.stop(0, 1, trace.outer, 200);
    const Collected seen(trace);
    CHECK(seen.left_out("outer", LeftOut::kLoss) == 1);
    CHECK(seen.left_out("inner", LeftOut::kLoss) == 0);
}

TEST_CASE("what is between a START and a STOP around a loss is not known to be inside",
          "[nsdump][thinning]")
{
    Trace trace;
    trace.start(0, 1, trace.outer, 100);
    trace.lose(0, NSLICE_LOST_FULL, 1); // its STOP
    trace.pair(200);
    trace.lose(0, NSLICE_LOST_FULL, 1); // the next START
    trace.stop(0, 1, trace.outer, 400);
    const Collected seen(trace);
    CHECK(seen.left_out("outer", LeftOut::kLoss) == 1);
    CHECK(seen.of("outer").inside.find(seen.name("inner")));
    CHECK_FALSE(seen.of("outer").inside.find(seen.name("outer")));
}

TEST_CASE("slices whose thread changed its CPU are left out, even if it came back",
          "[nsdump][thinning]")
{
    Trace trace;
    trace.start(0, 1, trace.outer, 100);
    trace.stop(1, 1, trace.outer, 200);
    trace.start(0, 1, trace.outer, 300);
    trace.mark(1, 1, trace.mark_id, 310, 1);
    trace.stop(0, 1, trace.outer, 400);
    const Collected seen(trace);
    CHECK(seen.left_out("outer", LeftOut::kMigrated) == 2);
}

TEST_CASE("an id belongs to the epochs of the process that announced it", "[nsdump][thinning]")
{
    Trace trace;
    const auto other = trace.site("other", NSLICE_KIND_START, "app.c", 1, 2);
    trace.epoch(0, 2 * kEpoch, {trace.outer}, 2);
    trace.start(0, 1, other, kEpoch - 20);
    trace.stop(0, 1, other, kEpoch + 20);
    trace.pair(kEpoch + 100, 1, false);
    const Collected seen(trace);
    CHECK(seen.of("other").accepted == 1); // the boundary is that of another process
    CHECK(seen.of("outer").accepted == 1);
}

TEST_CASE("units are counted by epoch", "[nsdump][thinning]")
{
    Trace trace;
    const auto unit = trace.site("unit", NSLICE_KIND_INIT);
    for (const uint64_t at : {10u, 20u, 1'000'010u, 2'000'010u}) {
        trace.init(0, 1, unit, at, at, 1, 64);
        trace.exit(0, 1, unit, at + 5);
    }
    const Collected seen(trace);
    const nsdump::UnitEpochs &units = *seen.slices().units_of(seen.name("unit"));
    REQUIRE(units.epochs.size() == 2);
    CHECK(units.epochs[0].sum == 2);
    CHECK(units.epochs[1].sum == 1);
}

TEST_CASE("more names inside than are kept apart leave the slice out", "[nsdump][thinning]")
{
    Trace trace;
    std::vector<uint16_t> ids;
    for (int i = 0; i < 300; ++i)
        ids.push_back(trace.site("many" + std::to_string(i), NSLICE_KIND_MARK));
    trace.start(0, 1, trace.outer, 100);
    for (size_t i = 0; i < ids.size(); ++i)
        trace.mark(0, 1, ids[i], 101 + i, 1);
    trace.stop(0, 1, trace.outer, 500);
    const Collected seen(trace);
    CHECK(seen.left_out("outer", LeftOut::kTooMany) == 1);
}

TEST_CASE("epochs that overlap, or of which some are missing, are refused", "[nsdump][thinning]")
{
    Trace trace;
    trace.epoch(kEpoch / 2, kEpoch, {});
    CHECK(Collected(trace).epochs().refusal() == "epochs of process 1 overlap");

    Trace malformed;
    malformed.epoch(20, 10, {});
    CHECK(Collected(malformed).epochs().refusal() == "1 chunk of epochs is missing or malformed");
    CHECK(Collected(*std::make_unique<Trace>()).epochs().refusal().empty());
}

namespace
{
// As above, in BPF programs: CPU 0 is idle but for them.
struct ProgramTrace : TraceBuilder {
    static constexpr uint32_t kIdle = 0;
    uint16_t outer = 0, inner = 0, irq = 0;

    ProgramTrace()
    {
        info(plain_info());
        outer = kernel_site("outer", NSLICE_KIND_START, NSLICE_SITE_IN_PROGRAM);
        inner = kernel_site("inner", NSLICE_KIND_START, NSLICE_SITE_IN_PROGRAM);
        irq = kernel_site("irq", NSLICE_KIND_START, NSLICE_SITE_INTERRUPT);
        epoch(0, kEpoch - 10, {}, 0);
        epoch(kEpoch, 2 * kEpoch, {inner}, 0);
    }
    void pair(uint64_t at, uint32_t cpu = 0)
    {
        start(kernel(cpu), kIdle, outer, at);
        start(kernel(cpu), kIdle, inner, at + 10);
        stop(kernel(cpu), kIdle, inner, at + 20);
        stop(kernel(cpu), kIdle, outer, at + 50);
    }
    void bare(uint64_t at, uint32_t cpu = 0)
    {
        start(kernel(cpu), kIdle, outer, at);
        stop(kernel(cpu), kIdle, outer, at + 30);
    }
};
} // namespace

TEST_CASE("slices of BPF programs are counted in cells of the kernel's epochs",
          "[nsdump][thinning]")
{
    ProgramTrace trace;
    trace.pair(100);
    trace.bare(kEpoch + 100);
    const Collected seen(trace, 0, true);
    const auto &outer = seen.of("kernel:outer");
    REQUIRE(outer.cells.size() == 2);
    CHECK(outer.cells[0]->mean() == 50);
    CHECK(outer.cells[1]->mean() == 30);
}

TEST_CASE("the idle threads of two CPUs do not nest in each other", "[nsdump][thinning]")
{
    ProgramTrace trace;
    trace.start(TraceBuilder::kernel(0), 0, trace.outer, 100);
    trace.pair(110, 1);
    trace.stop(TraceBuilder::kernel(0), 0, trace.outer, 200);
    const Collected seen(trace, 0, true);
    CHECK(seen.of("kernel:outer").accepted == 2);
    CHECK(seen.of("kernel:outer").left_out == nsdump::LeftOutCounts{});
}

TEST_CASE("a slice of a BPF program with an interrupt inside is left out", "[nsdump][thinning]")
{
    ProgramTrace trace;
    trace.start(TraceBuilder::kernel(0), 0, trace.outer, 100);
    trace.start(TraceBuilder::kernel(0), 0, trace.irq, 110);
    trace.stop(TraceBuilder::kernel(0), 0, trace.irq, 120);
    trace.stop(TraceBuilder::kernel(0), 0, trace.outer, 200);
    const Collected seen(trace, 0, true);
    CHECK(seen.left_out("kernel:outer", LeftOut::kKernel) == 1);
    CHECK(seen.of("kernel:outer").accepted == 0);
}

// A recorder's own points have such sites, too: where they come behind another record.
TEST_CASE("what another group records in an interrupt is not inside a slice of a BPF program",
          "[nsdump][thinning]")
{
    ProgramTrace trace;
    trace.kernel_site("vector", NSLICE_KIND_MARK);
    const uint16_t vector = trace.kernel_site("vector", NSLICE_KIND_MARK, NSLICE_SITE_IN_PROGRAM);
    trace.pair(10);
    trace.start(TraceBuilder::kernel(0), 0, trace.outer, 100);
    trace.start(TraceBuilder::kernel(0), 0, trace.irq, 110);
    trace.mark(TraceBuilder::kernel(0), 0, vector, 112, 1);
    trace.stop(TraceBuilder::kernel(0), 0, trace.irq, 120);
    trace.stop(TraceBuilder::kernel(0), 0, trace.outer, 200);
    const Collected seen(trace, 0, true);
    CHECK(seen.left_out("kernel:outer", LeftOut::kKernel) == 1);
    CHECK_FALSE(seen.of("kernel:outer").inside.find(seen.name("kernel:vector")));
    CHECK(seen.of("kernel:outer").inside.find(seen.name("kernel:inner")));
}

TEST_CASE("epochs of processes and of BPF programs are apart", "[nsdump][thinning]")
{
    ProgramTrace trace;
    trace.site("in process");
    trace.epoch(0, kEpoch, {}, 1);
    CHECK(Collected(trace, 0, true).epochs().size() == 2);
    CHECK(Collected(trace, 0, false).epochs().size() == 1);
}

TEST_CASE("epochs of BPF programs are refused if the clocks moved by more than a switch takes",
          "[nsdump][thinning]")
{
    for (const bool is_close : {true, false}) {
        ProgramTrace trace;
        trace.epoch(0, kEpoch, {}, 1);
        trace.info(is_close ? "kernel.clock.residual_ns=4999.0\n"
                            : "kernel.clock.residual_ns=5001.0\n");
        CHECK(Collected(trace, 0, true).epochs().refusal().empty() == is_close);
        CHECK(Collected(trace, 0, false).epochs().refusal().empty());
    }
}
