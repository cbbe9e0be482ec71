// SPDX-License-Identifier: MIT
// Rules judged on made-up reports.
#include "analyse/compare/gate.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "made_up_report.hpp"

using namespace nsdump;
using namespace test_support;

namespace
{
// What becomes of one rule; "holds", or "not judged: why".
std::string judged(const std::string &text, const Runs &runs, const Runs &baseline = {},
                   const GateOptions &options = {})
{
    const RuleFile file = parse_rules(text);
    REQUIRE(file.faults.empty());
    const auto results = judge_rules(file.rules, runs, baseline, options);
    REQUIRE(results.size() == 1);
    const GateResult &one = results[0];
    std::string out = status_name(one.status);
    if (!one.why.empty())
        out += ": " + one.why;
    return one.fails ? out + " (fails)" : out;
}

const Runs kRuns{report_of({slice_of("parse", 100, 2, 300), slice_of("filter", 200, 2, 600)})};
} // namespace

TEST_CASE("a limit outside of the interval is decided", "[nsdump][gate]")
{
    CHECK(judged("parse: net_ns <= 103", kRuns) == "holds");
    CHECK(judged("parse: net_ns <= 97", kRuns) == "broken (fails)");
    CHECK(judged("parse: net_ns >= 97", kRuns) == "holds");
    CHECK(judged("parse: net_ns > 103", kRuns) == "broken (fails)");
    CHECK(judged("parse: net_ns <= 95 +10%", kRuns) == "holds");
    CHECK(judged("parse: net_ns <= 95 +10", kRuns) == "holds");
}

TEST_CASE("a limit inside of the interval is undecided, and fails only if it is strict",
          "[nsdump][gate]")
{
    CHECK(judged("parse: net_ns <= 101", kRuns) == "undecided");
    CHECK(judged("parse: net_ns <= 99", kRuns) == "undecided");
    CHECK(judged("parse: net_ns <= 101 strict", kRuns) == "undecided (fails)");
    CHECK(judged("parse: net_ns <= 101", kRuns, {}, {{}, true}) == "undecided (fails)");
    CHECK(judged("parse: net_ns == 101", kRuns) == "undecided");
    CHECK(judged("parse: net_ns == 110", kRuns) == "broken (fails)");
}

TEST_CASE("exact counts are always decided", "[nsdump][gate]")
{
    CHECK(judged("parse: instructions/packet <= 300", kRuns) == "holds");
    CHECK(judged("parse: instructions < 300", kRuns) == "broken (fails)");
    CHECK(judged("parse: net_instructions/slice == 300", kRuns) == "holds");
    CHECK(judged("parse: instructions <= 299", kRuns) == "broken (fails)");
    Runs stepped = kRuns; // of every unit, in which the counts differ
    stepped[0].counter_source = "step";
    stepped[0].info["counters.step_every"] = "1";
    stepped[0].slices[0].values[1] = field_of("INSTRUCTIONS", 300, 20);
    CHECK(judged("parse: instructions/packet <= 300", stepped) == "holds");
    stepped[0].info["counters.step_every"] = "2";
    CHECK(judged("parse: instructions/packet <= 300", stepped) == "undecided");
}

TEST_CASE("a ratio is that of the two slices, with the error of both", "[nsdump][gate]")
{
    CHECK(judged("filter / parse: net_ns <= 2.1", kRuns) == "holds");
    CHECK(judged("filter / parse: net_ns <= 2.03", kRuns) == "undecided");
    CHECK(judged("filter / parse: net_ns <= 1.9", kRuns) == "broken (fails)");
    CHECK(judged("filter / parse: instructions == 2", kRuns) == "holds");
    CHECK(judged("filter / *: net_ns <= 2", kRuns) ==
          "not judged: 2 slices match the divisor * (one is needed) (fails)");
    Runs empty{report_of({slice_of("parse", 1, 2), slice_of("filter", 200, 2)})};
    CHECK(judged("filter / parse: net_ns <= 2", empty) ==
          "not judged: parse: the divisor is not above zero (fails)");
}

TEST_CASE("percentiles are judged with the width of the histogram's buckets", "[nsdump][gate]")
{
    CHECK(judged("parse: net_ns p99 <= 101", kRuns) == "holds");
    CHECK(judged("parse: net_ns/packet p99 <= 100.5", kRuns) == "undecided");
    CHECK(judged("parse: net_ns max <= 102", kRuns) == "holds");
    CHECK(judged("parse: net_ns p90 <= 101", kRuns) ==
          "not judged: too few slices for p90 (fails)");
    Runs several = kRuns;
    several[0].slices[0].values[0].per_packet->slices = 2;
    CHECK(judged("parse: net_ns/packet p99 <= 300", several) ==
          "not judged: no p99 per packet: a packet has 2 slices (omit /packet) (fails)");
}

TEST_CASE("a rule against the baseline has the errors of both", "[nsdump][gate]")
{
    const Runs base{report_of({slice_of("parse", 100, 2, 298)}, "base.nsl")};
    CHECK(judged("parse: instructions/packet <= baseline +1%", kRuns, base) == "holds");
    CHECK(judged("parse: instructions/packet <= baseline", kRuns, base) == "broken (fails)");
    const GateOptions no_spread{{0, false}, false};
    CHECK(judged("parse: net_ns <= baseline +1%", kRuns, base, no_spread) == "undecided");
    CHECK(judged("parse: net_ns <= baseline +5%", kRuns, base, no_spread) == "holds");
    CHECK(judged("parse: net_ns <= baseline +5%", kRuns, base) == "undecided"); // single runs
    CHECK(judged("filter: net_ns <= baseline", kRuns, base) ==
          "not judged: baseline: not in base.nsl (fails)");
    CHECK(judged("parse: net_ns <= baseline", kRuns) ==
          "not judged: there is no baseline (give one with --baseline) (fails)");
    Runs elsewhere = base;
    elsewhere[0].info["machine.cpu"] = "another CPU";
    CHECK(judged("parse: net_ns <= baseline", kRuns, elsewhere) ==
          "not judged: other machine: another CPU and a CPU (fails)");
}

TEST_CASE("counts are judged in every run", "[nsdump][gate]")
{
    Runs runs{kRuns[0], kRuns[0]};
    CHECK(judged("*: lost == 0", runs) == "holds");
    CHECK(judged("parse: count == 1000", runs) == "holds");
    runs[1].losses.lost[0] = 8;
    runs[1].slices[0].crossed = 3;
    CHECK(judged("*: lost <= 5", runs) == "broken (fails)");
    CHECK(judged("parse: crossed == 0", runs) == "broken (fails)");
    CHECK(judged("parse: crossed <= 3", runs) == "holds");
    runs[1].losses.has_footer = false;
    CHECK(judged("*: lost <= 8", runs).find("number of lost records is unknown") !=
          std::string::npos);
}

TEST_CASE("what has no figure, or none to be trusted, fails with the reason", "[nsdump][gate]")
{
    CHECK(judged("scan: net_ns <= 1", kRuns) == "not judged: no such slice in made-up.nsl (fails)");
    CHECK(judged("parse: cycles <= 1", kRuns) ==
          "not judged: made-up.nsl has no figure cycles (counters: INSTRUCTIONS) (fails)");
    Runs runs = kRuns;
    runs[0].slices[0].is_incomplete = true;
    CHECK(judged("parse: net_ns <= 500", runs) ==
          "not judged: figures incomplete: parts of the trace are missing or damaged (fails)");
    runs = kRuns;
    runs[0].slices[0].values[0].net.reset();
    CHECK(judged("parse: net_ns <= 500", runs) ==
          "not judged: raw values only: not calibrated (fails)");
    CHECK(judged("parse: raw_ns <= 500", runs) == "holds");
    runs[0].slices[0].values[0].per_packet.reset();
    CHECK(judged("parse: raw_ns/packet <= 500", runs) ==
          "not judged: no packets: its units have no packet counts (fails)");
}

TEST_CASE("a pattern is judged on each slice that matches it", "[nsdump][gate]")
{
    const auto results =
        judge_rules(parse_rules("*: net_ns <= 150").rules, kRuns, {}, GateOptions{});
    REQUIRE(results.size() == 2);
    CHECK(results[0].slice == "parse");
    CHECK(results[0].status == GateStatus::kHolds);
    CHECK(results[1].slice == "filter");
    CHECK(results[1].status == GateStatus::kBroken);
}
