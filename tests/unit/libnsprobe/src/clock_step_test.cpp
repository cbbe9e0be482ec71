// SPDX-License-Identifier: MIT
// The step that the library detects must match the one that the clock shows here and now.
#include "support/catch.hpp"

#include <map>
#include <vector>

#include <nsprobe/calibrate.h>

extern "C" {
#include "calibrate/clock_step.h"
#include "writer/arch.h"
}

TEST_CASE("the detected clock step appears in differences of readings", "[libnsprobe][clock]")
{
    std::map<uint64_t, int> seen;
    uint64_t before = nsp_clock_read(0);
    for (int i = 0; i < 50000; ++i) {
        const uint64_t now = nsp_clock_read(0);
        REQUIRE(now >= before);
        ++seen[now - before];
        before = now;
    }
    const double step = nsp_clock_step_ticks();
    INFO("step " << step << " ticks, smallest difference " << seen.begin()->first);
    CHECK(step >= 1);
    CHECK(step < 1000);
    int on_step = 0;
    for (const auto &[difference, count] : seen) {
        const double times = std::round(double(difference) / step);
        on_step += std::fabs(double(difference) - times * step) <= times + 1 ? count : 0;
    }
    CHECK(on_step > 50000 * 0.9);
}

TEST_CASE("the clock step is the same when it is measured again", "[libnsprobe][clock]")
{
    const double first = nsp_clock_step_ticks();
    for (int i = 0; i < 100; ++i)
        CHECK(nsp_clock_step_ticks() == Approx(first).margin(1));
}

TEST_CASE("a stepped clock is detected even if a slow core makes few readings one step apart",
          "[libnsprobe][clock]")
{
    std::vector<uint32_t> differences(100, 0);
    for (const auto &[difference, count] : std::map<uint32_t, int>{
             {24, 10}, {25, 12}, {49, 1500}, {73, 1500}, {74, 1500}, {98, 2500}, {122, 300}})
        differences.insert(differences.end(), count, difference);
    CHECK(nsp_clock_step_of(differences.data(), uint32_t(differences.size())) ==
          Approx(24.5).margin(0.1));
}

TEST_CASE("a clock without steps has the common divisor of its differences", "[libnsprobe][clock]")
{
    std::vector<uint32_t> differences;
    for (uint32_t i = 40; i < 400; i += 2)
        differences.insert(differences.end(), 20, i);
    CHECK(nsp_clock_step_of(differences.data(), uint32_t(differences.size())) == 2);
    CHECK(nsp_clock_step_of(differences.data(), 0) == 1);
}
