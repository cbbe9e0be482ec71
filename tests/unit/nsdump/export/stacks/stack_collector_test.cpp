// SPDX-License-Identifier: MIT
#include "export/stacks/stack_collector.hpp"

#include "stacks_support.hpp"
#include "support/catch.hpp"

using test_support::calibrated_trace;
using test_support::stacks_of;
using test_support::TraceBuilder;
using Weights = std::map<std::string, double>;

namespace
{
constexpr auto kKernel0 = uint32_t{1} << 31; // the kernel's ring of CPU 0
} // namespace

TEST_CASE("a slice weighs its net value minus that of the slices directly inside",
          "[nsdump][stacks]")
{
    TraceBuilder trace = calibrated_trace();
    const auto unit = trace.site("batch", NSLICE_KIND_INIT);
    const auto outer = trace.site("outer"), inner = trace.site("inner");
    trace.init(0, 1, unit, 90, 1, 64, 4096);
    for (uint64_t at : {100, 1100}) {
        trace.start(0, 1, outer, at);
        trace.start(0, 1, inner, at + 10);
        trace.stop(0, 1, inner, at + 40);  // net 30 - 2
        trace.stop(0, 1, outer, at + 100); // net 100 - 2 - 3
    }
    trace.exit(0, 1, unit, 1300);
    trace.start(0, 1, inner, 1400);
    trace.stop(0, 1, inner, 1450);
    const auto stacks = stacks_of(trace);
    CHECK(stacks.weights ==
          Weights{{"batch;outer", 2 * 67}, {"batch;outer;inner", 2 * 28}, {"inner", 48}});
    CHECK(stacks.frames.total == 2 * 95 + 48);
    CHECK(stacks.left_out.sum() == 0);
}

TEST_CASE("raw time and counters are weights too", "[nsdump][stacks]")
{
    const auto made = [] {
        TraceBuilder trace = calibrated_trace("INSTRUCTIONS");
        const auto outer = trace.site("outer"), inner = trace.site("inner");
        trace.start(0, 1, outer, 100, {0});
        trace.start(0, 1, inner, 110, {20});
        trace.stop(0, 1, inner, 140, {50});
        trace.stop(0, 1, outer, 200, {100});
        trace.start(0, 1, inner, 300); // without the counter
        trace.stop(0, 1, inner, 310);
        return trace;
    };
    TraceBuilder raw = made(), counted = made(), unknown = made();
    CHECK(stacks_of(raw, "raw-ns").weights ==
          Weights{{"outer", 70}, {"outer;inner", 30}, {"inner", 10}});
    const auto stacks = stacks_of(counted, "INSTRUCTIONS");
    CHECK(stacks.weights == Weights{{"outer", 98 - 29}, {"outer;inner", 29}});
    CHECK(stacks.left_out.without_value == 1);
    CHECK_THROWS_WITH(stacks_of(unknown, "CYCLES"), Catch::Matchers::Contains("INSTRUCTIONS"));
}

TEST_CASE("a slice that cannot be measured weighs nothing, and is the frame of those inside",
          "[nsdump][stacks]")
{
    TraceBuilder trace = calibrated_trace();
    const auto outer = trace.site("outer"), inner = trace.site("inner");
    trace.start(0, 1, outer, 100);
    trace.start(0, 1, inner, 110);
    trace.stop(0, 1, inner, 140);
    trace.stop(1, 1, outer, 200);
    const auto stacks = stacks_of(trace);
    CHECK(stacks.weights == Weights{{"outer;inner", 28}});
    CHECK(stacks.left_out.migrated == 1);
}

TEST_CASE("slices in one that ends without its STOP belong to the slice around it",
          "[nsdump][stacks]")
{
    TraceBuilder trace = calibrated_trace();
    const auto outer = trace.site("outer"), lost = trace.site("lost"), inner = trace.site("inner");
    for (uint64_t at : {100, 1100}) { // the early return is certain when `lost` starts again
        trace.start(0, 1, outer, at);
        trace.start(0, 1, lost, at + 5);
        trace.start(0, 1, inner, at + 10);
        trace.stop(0, 1, inner, at + 40);
        trace.stop(0, 1, outer, at + 100); // net 100 - 2 - 1.5 * 3
    }
    const auto stacks = stacks_of(trace);
    CHECK(stacks.weights.at("outer;lost;inner") == 2 * 28);
    CHECK(stacks.weights.at("outer") == std::round(2 * (93.5 - 28)));
    CHECK(stacks.frames.total == 2 * 93.5);
}

TEST_CASE("of two slices that cross, the one that ends first is counted", "[nsdump][stacks]")
{
    TraceBuilder trace = calibrated_trace();
    const auto a = trace.site("a"), b = trace.site("b");
    trace.start(0, 1, a, 100);
    trace.start(0, 1, b, 150);
    trace.stop(0, 1, a, 200);
    trace.stop(0, 1, b, 300);
    const auto stacks = stacks_of(trace);
    CHECK(stacks.weights.size() == 1);
    CHECK(stacks.weights.count("a") == 1);
    CHECK(stacks.left_out.counted_crossed > 0);
}

TEST_CASE("an interrupt is not part of the slice that it interrupts", "[nsdump][stacks]")
{
    for (const std::string weight : {"net-ticks", "raw-ns"}) {
        TraceBuilder trace;
        trace.info(test_support::plain_info(1e9));
        trace.kernel_calibration({{0, NSLICE_KIND_START, 0, 1, 0, 0, 0, 0}});
        const auto call = trace.kernel_site("call");
        const auto irq = trace.kernel_site("irq", NSLICE_KIND_START, NSLICE_SITE_INTERRUPT);
        trace.start(kKernel0, 7, call, 100);
        trace.start(kKernel0, 7, irq, 120);
        trace.stop(kKernel0, 7, irq, 150);
        trace.stop(kKernel0, 7, call, 200);
        const std::string stack = weight == "raw-ns" ? "kernel:call;kernel:irq" : "kernel:irq";
        CHECK(stacks_of(trace, weight).weights == Weights{{"kernel:call", 70}, {stack, 30}});
    }
}

TEST_CASE("a choice of a unit or slice keeps only its part of the stacks", "[nsdump][stacks]")
{
    const auto made = [] {
        TraceBuilder trace = calibrated_trace();
        const auto unit = trace.site("batch", NSLICE_KIND_INIT);
        const auto outer = trace.site("outer"), inner = trace.site("inner");
        for (uint64_t number : {1, 2}) {
            const uint64_t at = 1000 * number;
            trace.init(0, 1, unit, at, number, 64, 4096);
            trace.start(0, 1, outer, at + 100);
            trace.start(0, 1, inner, at + 110);
            trace.stop(0, 1, inner, at + 140);
            trace.stop(0, 1, outer, at + 200);
            trace.exit(0, 1, unit, at + 300);
        }
        return trace;
    };
    TraceBuilder by_unit = made(), by_slice = made();
    CHECK(stacks_of(by_unit, "net-ticks", {2, ""}).weights ==
          Weights{{"batch;outer", 67}, {"batch;outer;inner", 28}});
    CHECK(stacks_of(by_slice, "net-ticks", {{}, "inner"}).weights == Weights{{"inner", 2 * 28}});
}

TEST_CASE("stacks beyond the limit share one frame, and their sum is kept", "[nsdump][stacks]")
{
    TraceBuilder trace = calibrated_trace();
    std::vector<uint16_t> sites;
    for (int i = 0; i < 10; ++i)
        sites.push_back(trace.site("f" + std::to_string(i)));
    uint64_t at = 100;
    for (const uint16_t site : sites) {
        trace.start(0, 1, site, at);
        trace.stop(0, 1, site, at + 12);
        at += 100;
    }
    const auto stacks = stacks_of(trace, "net-ticks", {}, 4);
    CHECK(stacks.weights.size() == 5);
    CHECK(stacks.weights.at("(other)") == 60);
    CHECK(stacks.frames.other_slices == 6);
    CHECK(stacks.frames.total == 100);
}
