// SPDX-License-Identifier: MIT
// Verdicts on made-up reports.
#include "analyse/compare/compare.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "made_up_report.hpp"

using namespace nsdump;
using namespace test_support;

namespace
{
const CompareOptions kNoSpread{0, false};

// Of the first slice's time.
Comparison compared(const StatsReport &first, const StatsReport &second,
                    const CompareOptions &options = kNoSpread)
{
    return compare({first}, {second}, options).at(0);
}

std::string why(const StatsReport &first, const StatsReport &second)
{
    const Comparison one = compared(first, second);
    CHECK(one.verdict == Verdict::kNotComparable);
    return one.why;
}
} // namespace

TEST_CASE("a difference beyond the interval is faster or slower", "[nsdump][compare]")
{
    const auto old = report_of({slice_of("parse", 100, 1)});
    const auto slow = compared(old, report_of({slice_of("parse", 110, 1)}));
    CHECK(slow.verdict == Verdict::kSlower);
    CHECK(slow.difference.value == Approx(10));
    CHECK(slow.difference.half95() == Approx(std::sqrt(2.0)).epsilon(0.03));
    CHECK(slow.unit == "ns");
    CHECK(slow.is_per_packet);
    CHECK(compared(old, report_of({slice_of("parse", 90, 1)})).verdict == Verdict::kFaster);
    CHECK(compared(old, report_of({slice_of("parse", 101, 1)})).verdict == Verdict::kNoDifference);
}

TEST_CASE("times of single runs have to differ by more than the assumed spread",
          "[nsdump][compare]")
{
    const auto old = report_of({slice_of("parse", 100, 0.1)});
    const CompareOptions options; // 5 %
    const auto slower = report_of({slice_of("parse", 110, 0.1)});
    CHECK(compared(old, slower, options).verdict == Verdict::kNoDifference);
    CHECK(compared(old, slower, options).difference.assumed_spread);
    CHECK(compared(old, report_of({slice_of("parse", 130, 0.1)}), options).verdict ==
          Verdict::kSlower);
}

TEST_CASE("the assumed spread is as large as the share of the time in which the core was shared",
          "[nsdump][compare]")
{
    auto old = report_of({slice_of("parse", 100, 0.1, 300)}),
         slower = report_of({slice_of("parse", 160, 0.1, 301)});
    const auto spread_with = [&](const char *sibling, const CompareOptions &options) {
        slower.info["calibrate.sibling"] = sibling;
        return compared(old, slower, options).difference.assumed_spread;
    };
    CHECK(spread_with("0.000", {}) == kLeastSpread);
    CHECK(spread_with("0.500", {}) == 0.5);
    CHECK(compared(old, slower, {}).verdict == Verdict::kNoDifference);
    CHECK(compare({old}, {slower}, {}).at(1).verdict == Verdict::kSlower); // instructions
    CHECK(spread_with("0.500", {0.01, false}) == 0.01);
    CHECK(compared(old, slower, {0.01, false}).verdict == Verdict::kSlower);
    for (const char *hostile : {"", "x", "-1", "nan"})
        CHECK(spread_with(hostile, {}) == kLeastSpread);
    CHECK(spread_with("inf", {}) == 1);
    old.info["calibrate.sibling"] = "0.250"; // in either run
    CHECK(spread_with("0.100", {}) == 0.25);
}

TEST_CASE("one instruction more is found if counts are exact", "[nsdump][compare]")
{
    const auto all = compare({report_of({slice_of("parse", 100, 1, 300)})},
                             {report_of({slice_of("parse", 100, 1, 301)})}, {});
    REQUIRE(all.size() == 2);
    CHECK(all[1].field == "INSTRUCTIONS");
    CHECK(all[1].verdict == Verdict::kSlower);
    CHECK(all[1].difference.is_exact);
    CHECK(all[0].verdict == Verdict::kNoDifference);
}

TEST_CASE("among many slices a difference has to be larger", "[nsdump][compare]")
{
    // Alone p is 0.02; among 20 it is 0.4.
    std::vector<SliceReport> old, changed;
    for (int i = 0; i < 20; ++i) {
        old.push_back(slice_of("s" + std::to_string(i), 100, 1));
        changed.push_back(slice_of("s" + std::to_string(i), i == 7 ? 101.7 : 100.1, 1));
    }
    const Runs first{report_of(old)}, second{report_of(changed)};
    const auto alone = compare(first, second, kNoSpread, "s7");
    CHECK(alone.at(0).verdict == Verdict::kSlower);
    // its counts are exact, so they are not among these
    CHECK(alone.at(0).p_adjusted == Approx(alone.at(0).difference.p_value()));
    const auto all = compare(first, second, kNoSpread);
    CHECK(all.at(14).slice == "s7");
    CHECK(all.at(14).p_adjusted == Approx(20 * alone.at(0).p_adjusted));
    CHECK(all.at(14).verdict == Verdict::kNoDifference);
}

TEST_CASE("what cannot be compared has the reason", "[nsdump][compare]")
{
    const auto old = report_of({slice_of("parse", 100, 1)}, "old.nsl");
    auto other = report_of({slice_of("parse", 200, 1)}, "new.nsl");
    SECTION("another machine")
    {
        other.info["machine.cpu"] = "another CPU";
        CHECK(why(old, other) == "other machine: a CPU and another CPU");
        CHECK(compared(old, other, {0, true}).verdict == Verdict::kSlower);
    }
    SECTION("a hypervisor's name as often as cpuid has it is the same name")
    {
        auto earlier = old;
        earlier.info["machine.virtualised"] = "KVMKVMKVM";
        other.info["machine.virtualised"] = "KVM";
        CHECK(compared(earlier, other).verdict == Verdict::kSlower);
        other.info["machine.virtualised"] = "none";
        CHECK(why(earlier, other) == "other machine: KVM and none");
    }
    SECTION("another kernel affects only times")
    {
        other.info["machine.kernel"] = "Linux 7";
        CHECK(why(old, other) == "other machine: unknown and Linux 7");
        CHECK(compare({old}, {other}, {}).at(1).verdict == Verdict::kNoDifference);
    }
    SECTION("another clock mode")
    {
        other.clock.mode = "ordered";
        CHECK(why(old, other) == "other clock mode: fast and ordered");
    }
    SECTION("another calibration")
    {
        other.calibration_start[0].outer = other.calibration_end[0].outer = 60;
        CHECK(why(old, other) == "other calibration: outer 40.00 and 60.00 ticks");
        other.calibration_start[0].outer_ci95 = 30; // within its error
        other.calibration_end[0].outer_ci95 = 30;
        CHECK(compared(old, other).verdict == Verdict::kSlower);
    }
    SECTION("another counter source affects only counters")
    {
        other.counter_source = "step";
        CHECK(compared(old, other).verdict == Verdict::kSlower);
        CHECK(compare({old}, {other}, {}).at(1).why == "other counter source: rdpmc and step");
    }
}

TEST_CASE("figures that are missing or doubtful are not compared", "[nsdump][compare]")
{
    const auto old = report_of({slice_of("parse", 100, 1)}, "old.nsl");
    auto other = report_of({slice_of("parse", 200, 1)}, "new.nsl");
    SECTION("missing parts")
    {
        other.slices[0].is_incomplete = true;
        CHECK(why(old, other).starts_with("figures incomplete"));
    }
    SECTION("raw values only")
    {
        other.slices[0].values[0].net.reset();
        CHECK(why(old, other) == "raw values only: not calibrated");
    }
    SECTION("most slices below noise")
    {
        other.slices[0].below_noise = 501;
        CHECK(why(old, other).starts_with("below noise"));
    }
    SECTION("a slice that one lacks")
    {
        other.slices[0].name = "scan";
        CHECK(why(old, other) == "not in new.nsl");
        CHECK(compare({old}, {other}, {}).at(2).why == "not in old.nsl");
    }
    SECTION("packets in one only")
    {
        other.slices[0].values[0].per_packet.reset();
        CHECK(why(old, other) == "per packet in one, per slice in the other");
    }
    SECTION("a single slice")
    {
        other.slices[0].values[0].per_packet->net_trimmed_ci95.reset();
        CHECK(why(old, other) == "too few slices for an interval");
    }
}

TEST_CASE("several runs put their variance into the interval", "[nsdump][compare]")
{
    Runs first, second;
    for (const double ns : {95.0, 100.0, 105.0})
        first.push_back(report_of({slice_of("parse", ns, 0.1)}));
    second.push_back(report_of({slice_of("parse", 110, 0.1)}));
    const auto near = compare(first, second, {}).at(0);
    CHECK(near.verdict == Verdict::kNoDifference);
    CHECK_FALSE(near.difference.assumed_spread);
    second[0] = report_of({slice_of("parse", 200, 0.1)});
    CHECK(compare(first, second, {}).at(0).verdict == Verdict::kSlower);
    first[1].clock.mode = "ordered";
    first[1].path = "second.nsl";
    CHECK(compare(first, second, {}).at(0).why == "second.nsl: other clock mode: fast and ordered");
}
