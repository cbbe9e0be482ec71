// SPDX-License-Identifier: MIT
#include "cli/verify/judge.hpp"

#include <cmath>

#include "support/catch.hpp"

using namespace nsdump::verify;

namespace
{
const Truth kTruth = {{"outer", 100}, {"inner", 10}};

// Each slice of the truth `times` times, exactly.
Comparison exact(unsigned times)
{
    Comparison comparison(kTruth);
    for (unsigned i = 0; i < times; ++i) {
        comparison.add("inner", 1, 10);
        comparison.add("outer", 0, 100);
    }
    return comparison;
}

constexpr Disturbances kQuiet{}, kThreeInterrupts{0, 0, 3};

void check_failed(const Outcome &outcome, const std::string &words)
{
    CHECK(outcome.verdict == Verdict::kFailed);
    INFO(outcome.text);
    CHECK(outcome.text.find(words) != std::string::npos);
}
} // namespace

TEST_CASE("exact counts pass", "[nsdump][verify]")
{
    for (const bool overcounts : {false, true})
        CHECK(exact(5).judge(overcounts, kQuiet).verdict == Verdict::kPassed);
    CHECK(exact(5).judge(true, kQuiet).text == "10 slices of up to 100 instructions, 10 exact");
}

TEST_CASE("one count that is too low fails, with the slice and both counts", "[nsdump][verify]")
{
    for (const bool overcounts : {false, true}) {
        Comparison comparison = exact(5);
        comparison.add("outer", 0, 99);
        const Outcome outcome = comparison.judge(overcounts, kThreeInterrupts);
        check_failed(outcome, "1 of 11 slices too low; slice outer: expected 100, measured 99.00");
        CHECK(outcome.expected == 100);
        CHECK(outcome.measured == 99);
    }
}

TEST_CASE("a slice whose net count is unknown has no count", "[nsdump][verify]")
{
    Comparison comparison = exact(5);
    comparison.add("outer", 0, std::nan(""));
    check_failed(comparison.judge(false, kQuiet), "1 slice has no count");
}

TEST_CASE("a count that is too high fails where counters are exact", "[nsdump][verify]")
{
    Comparison comparison = exact(5);
    comparison.add("inner", 1, 11);
    check_failed(comparison.judge(false, kThreeInterrupts), "expected 10, measured 11.00");
}

TEST_CASE("interrupts explain as many counts as there were, and no more", "[nsdump][verify]")
{
    Comparison comparison = exact(5);
    for (int i = 0; i < 3; ++i)
        comparison.add("outer", 0, 101);
    const Outcome outcome = comparison.judge(true, kThreeInterrupts);
    CHECK(outcome.verdict == Verdict::kPassed);
    CHECK(outcome.text.find("10 exact, 3 too high by one for each interrupt") != std::string::npos);
    comparison.add("outer", 0, 101);
    check_failed(comparison.judge(true, kThreeInterrupts), "by 4 together, with 3 interrupts");
}

TEST_CASE("an error of one in most slices is not explained by interrupts", "[nsdump][verify]")
{
    Comparison comparison(kTruth);
    for (int i = 0; i < 5; ++i) {
        comparison.add("inner", 1, 10);
        comparison.add("outer", 0, 101);
        comparison.add("outer", 0, 101);
    }
    check_failed(comparison.judge(true, {0, 0, 1000000}), "more than interrupts explain");
}

TEST_CASE("an excess is counted once, although it is in all slices around it", "[nsdump][verify]")
{
    Comparison comparison = exact(5);
    comparison.add("inner", 1, 11);
    comparison.add("outer", 0, 101);
    CHECK(comparison.judge(true, {0, 0, 1}).verdict == Verdict::kPassed);
}

TEST_CASE("lost records, slices without a count and missing slices fail", "[nsdump][verify]")
{
    Comparison lost = exact(5), uncounted = exact(5), missing(kTruth);
    lost.add_lost(1);
    check_failed(lost.judge(true, kQuiet), "1 record was lost");
    uncounted.add_uncounted("inner");
    check_failed(uncounted.judge(true, kQuiet), "1 slice has no count");
    missing.add("inner", 0, 10);
    check_failed(missing.judge(true, kQuiet), "only 1 of 2 known slices");
}

TEST_CASE("slices of the program itself do not matter", "[nsdump][verify]")
{
    Comparison comparison = exact(5);
    comparison.add("other", 0, 1);
    comparison.add_uncounted("other");
    CHECK(comparison.judge(false, kQuiet).verdict == Verdict::kPassed);
}
