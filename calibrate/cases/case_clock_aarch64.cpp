// SPDX-License-Identifier: MIT
// case: the ways to read the generic timer's counter on arm64.
#include <array>

#include "cases.hpp"

namespace calibrate
{
namespace
{
NSCALIBRATE_LOOP(cntvct, "mrs x9, cntvct_el0", "x9")
NSCALIBRATE_LOOP(isb_cntvct, "isb\n\tmrs x9, cntvct_el0", "x9")
NSCALIBRATE_LOOP(isb_cntvct_isb, "isb\n\tmrs x9, cntvct_el0\n\tisb", "x9")
} // namespace

NSCALIBRATE_LOOP(empty_loop, "", "x9")

std::span<const ClockVariant> clock_variants()
{
    static constexpr std::array variants = {
        ClockVariant{"cntvct", cntvct, nullptr},
        ClockVariant{"isb;cntvct", isb_cntvct, nullptr},
        ClockVariant{"isb;cntvct;isb", isb_cntvct_isb, nullptr},
    };
    return variants;
}

uint64_t read_ticks()
{
    uint64_t ticks;
    asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}
} // namespace calibrate
