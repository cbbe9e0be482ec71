// SPDX-License-Identifier: MIT
// Pairs of two invented clocks -> the line between them.
#include <cmath>

#include "src/clock_line.hpp"
#include "support/catch.hpp"

namespace
{
using nsbpf::ClockLine;
using nsbpf::ClockPair;

constexpr uint64_t kStartNs = 1'700'000'000'000'000'000, kStepNs = 10'000'000;

// Ticks of a clock that begins with a large count and has this rate.
ClockPair pair_at(uint64_t mono_ns, double ticks_per_ns, uint64_t first_ticks = 1ull << 61)
{
    return {first_ticks + uint64_t(std::llround(double(mono_ns - kStartNs) * ticks_per_ns)),
            mono_ns, 20};
}

ClockLine exact_line(int pairs, double ticks_per_ns)
{
    ClockLine line;
    for (int i = 0; i < pairs; ++i)
        line.add(pair_at(kStartNs + uint64_t(i) * kStepNs, ticks_per_ns));
    return line;
}
} // namespace

TEST_CASE("times between and after the pairs of an exact line are exact", "[nsbpf][clock_line]")
{
    for (const double rate : {0.024, 1.0, 2.5961, 4.9}) {
        const ClockLine line = exact_line(300, rate);
        for (const uint64_t after_ns : {0u, 1u, 12'345'678u, 600'000'000u, 1'500'000'000u}) {
            const uint64_t at = kStartNs + 300 * kStepNs - 650'000'000 + after_ns;
            const auto distance = int64_t(line.ticks_at(at) - pair_at(at, rate).ticks);
            CHECK(std::abs(distance) <= 1);
        }
        CHECK(std::abs(line.ticks_per_ns() - rate) < 1e-7);
        CHECK(line.residual_ns() < 0.5 + 1 / rate);
    }
}

TEST_CASE("two pairs are a line", "[nsbpf][clock_line]")
{
    const ClockLine line = exact_line(2, 2.0);

    CHECK(line.ticks_at(kStartNs + 500) == (1ull << 61) + 1000);
    CHECK(line.residual_ns() == 0);
}

TEST_CASE("the line follows a change of the rate and says how far it was off",
          "[nsbpf][clock_line]")
{
    ClockLine line = exact_line(200, 2.0);
    const uint64_t change_ns = kStartNs + 200 * kStepNs;
    const uint64_t change_ticks = pair_at(change_ns, 2.0).ticks;
    const auto changed = [&](uint64_t mono_ns) { // 10 ppm faster, as adjtime() does
        return ClockPair{change_ticks +
                             uint64_t(std::llround(double(mono_ns - change_ns) * 2.00002)),
                         mono_ns, 20};
    };
    for (uint64_t i = 0; i < 64; ++i)
        line.add(changed(change_ns + i * kStepNs));

    const uint64_t at = change_ns + 64 * kStepNs;
    CHECK(std::abs(int64_t(line.ticks_at(at) - changed(at).ticks)) <= 1);
    CHECK(line.residual_ns() > 100);  // a step later it was 100 ns away
    CHECK(line.residual_ns() < 6400); // and it did not wait for all pairs
}

TEST_CASE("noise of single pairs is averaged and shows as the residual", "[nsbpf][clock_line]")
{
    ClockLine line;
    for (int i = 0; i < 500; ++i) {
        ClockPair pair = pair_at(kStartNs + uint64_t(i) * kStepNs, 2.0);
        pair.ticks += i % 2 ? 40 : -40; // 20 ns
        line.add(pair);
    }
    const uint64_t at = kStartNs + 500 * kStepNs;
    CHECK(std::abs(int64_t(line.ticks_at(at) - pair_at(at, 2.0).ticks)) < 10);
    CHECK(line.residual_ns() > 19);
    CHECK(line.residual_ns() < 30);
}

TEST_CASE("a slope is as wrong as its pairs are apart from the line, in the time that they cover",
          "[nsbpf][clock_line]")
{
    CHECK(exact_line(300, 2.0).slope_error() < 1.0 / (31 * kStepNs));
    ClockLine line = exact_line(200, 2.0);
    ClockPair off = pair_at(kStartNs + 200 * kStepNs, 2.0);
    off.ticks += 126; // 63 ns, and 63 steps between 64 pairs
    line.add(off);
    CHECK(line.slope_error() == Approx(1e-7).epsilon(0.02));
    const double at_most = line.slope_error() * 5e6 + 1;
    const uint64_t at = off.mono_ns;
    const auto length = double(line.ticks_at(at + 5'000'000) - line.ticks_at(at)) / 2;
    CHECK(std::abs(length - 5e6) <= at_most);
}

TEST_CASE("both clocks are read within a microsecond and go forward", "[nsbpf][clock_line]")
{
    const ClockPair first = nsbpf::read_clocks(), second = nsbpf::read_clocks();

    CHECK(second.ticks > first.ticks);
    CHECK(second.mono_ns > first.mono_ns);
    CHECK(first.width_ticks > 0);
}
