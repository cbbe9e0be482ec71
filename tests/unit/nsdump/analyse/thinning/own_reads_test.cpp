// SPDX-License-Identifier: MIT
// Scripted traces with epochs -> what slices' own two reads cost.
#include <cmath>

#include "support/catch.hpp"
#include "thinning/scripted_program.hpp"

using namespace test_support;

namespace
{
// In four epochs, each combination of "outer" and "inner" is off once.
void begin_epoch(Program &program, int number)
{
    std::vector<uint16_t> off;
    if (number % 2 == 0)
        off.push_back(program.outer);
    if (number % 4 < 2)
        off.push_back(program.inner);
    program.begin_epoch(off);
}
} // namespace

TEST_CASE("own reads by calibration and in the program are combined if they agree",
          "[nsdump][thinning]")
{
    // The calibration claims 40 ± 20 for own reads; a pair costs 60 here and its gap is 10 ± 20 or
    // so, which makes 50 for them.
    Program program("", 40, 50, 20);
    for (int i = 0; i < 80; ++i) {
        begin_epoch(program, i);
        for (int j = 0; j < 10; ++j) {
            program.begin(program.other);
            program.run({program.inner});
            program.end(program.other);
        }
    }
    const auto report = program.report();
    const auto outer = slice_of(report, "outer").thinning.value();
    CHECK(outer.inner_from == nsdump::NetSource::kBoth);
    CHECK(outer.inner.value > 41);
    CHECK(outer.inner.value < 49);
    CHECK(outer.inner.ci95 < 20);
    // With nothing inside, the two net values are combined instead.
    const auto inner = slice_of(report, "inner").thinning.value();
    CHECK(inner.inner_from == nsdump::NetSource::kThinning);
    CHECK(inner.inner.value == Approx(50));
    CHECK(inner.used == nsdump::NetSource::kBoth);
}

TEST_CASE("bounds of own reads combine as independent only if the program shows the gap",
          "[nsdump][thinning]")
{
    // Calibrated own reads of 40 ± 12; in the program a pair costs 60 and its gap is 20, of 28
    // without work.
    const auto own_reads = [](uint64_t work_before) {
        Program program("", 40, 60, 0, 20);
        for (int i = 0; i < 80; ++i) {
            begin_epoch(program, i);
            for (int j = 0; j < 10; ++j) {
                program.begin(program.other);
                for (int k = 0; k < 3; ++k) {
                    program.now -= 500 - work_before; // run() adds 500
                    program.run({program.inner});
                }
                program.end(program.other);
            }
        }
        return slice_of(program.report(), "outer").thinning.value();
    };
    const auto combined = [](double in_context, const auto &both) {
        const double weight = 144 / (144 + in_context * in_context);
        return both((1 - weight) * 12, weight * in_context);
    };
    const auto shown = own_reads(0), not_shown = own_reads(500);
    CHECK(shown.inner.value == Approx(40));
    CHECK(shown.inner.ci95 ==
          Approx(combined(8, [](double a, double b) { return std::hypot(a, b); })).margin(0.02));
    CHECK(not_shown.inner.value == Approx(40));
    CHECK(not_shown.inner.ci95 ==
          Approx(combined(4, [](double a, double b) { return a + b; })).margin(0.02));
}

TEST_CASE("own reads that the program shows are used if they contradict those of the calibration",
          "[nsdump][thinning]")
{
    // The gap of 20 is right, the claimed 34 for own reads is not, whatever its interval.
    Program program("", 34, 54, 0.001);
    for (int i = 0; i < 40; ++i) {
        program.begin_epoch(i % 2 == 0 ? std::vector{program.inner} : std::vector<uint16_t>{});
        for (int j = 0; j < 20; ++j)
            program.run({program.inner, program.inner, program.inner, program.inner});
    }
    const auto inner = slice_of(program.report(), "inner").thinning.value();
    CHECK(inner.inner_from == nsdump::NetSource::kThinning);
    CHECK(inner.inner.value == Approx(40));
    REQUIRE(inner.net);
    CHECK(inner.net->value == Approx(50));
}
