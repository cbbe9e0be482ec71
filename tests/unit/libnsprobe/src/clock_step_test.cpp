// SPDX-License-Identifier: MIT
// The step that the library detects must be the one that the clock shows here and now.
#include "support/catch.hpp"

#include <map>

#include <nsprobe/calibrate.h>

extern "C" {
#include "arch.h"
}

TEST_CASE("the detected clock step is one that differences of readings show", "[libnsprobe][clock]")
{
    std::map<std::uint64_t, int> seen;
    std::uint64_t before = nsp_clock_read(0);
    for (int i = 0; i < 50000; ++i) {
        const std::uint64_t now = nsp_clock_read(0);
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
        const double times = std::round(static_cast<double>(difference) / step);
        on_step += std::fabs(static_cast<double>(difference) - times * step) <= times + 1 ? count : 0;
    }
    CHECK(on_step > 50000 * 0.9);
}

TEST_CASE("the clock step is the same when it is asked again", "[libnsprobe][clock]")
{
    const double first = nsp_clock_step_ticks();
    for (int i = 0; i < 100; ++i)
        CHECK(nsp_clock_step_ticks() == Approx(first).margin(1));
}
