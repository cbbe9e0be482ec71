// SPDX-License-Identifier: MIT
// Clock line: pairs of both clocks -> a line by least squares.
#include "clock_line.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace nsbpf
{
namespace
{
constexpr int kTries = 16;
constexpr size_t kTrusted = 16; // pairs after which a residual says something about the clocks
} // namespace

uint64_t read_ticks()
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
    const uint64_t ticks = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return ticks;
#else
    uint64_t ticks;
    asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
#endif
}

ClockPair read_clocks()
{
    ClockPair best = {0, 0, UINT64_MAX};
    for (int i = 0; i < kTries; ++i) {
        timespec now;
        const uint64_t before = read_ticks();
        clock_gettime(CLOCK_MONOTONIC, &now);
        const uint64_t width = read_ticks() - before;
        if (width < best.width_ticks)
            best = {before + width / 2, uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec),
                    width};
    }
    return best;
}

void ClockLine::add(const ClockPair &pair)
{
    if (count_ > kTrusted) {
        const double distance = double(int64_t(pair.ticks - ticks_at(pair.mono_ns))) / slope_;
        residual_ns_ = std::max(residual_ns_, std::abs(distance));
        if (count_ >= kPairs / 2)
            slope_error_ = std::max(slope_error_, std::abs(distance) / span_ns());
    }
    pairs_[count_++ % kPairs] = pair;
    if (count_ >= 2)
        fit();
}

// From the oldest pair to the newest.
double ClockLine::span_ns() const
{
    const uint64_t oldest_ns = pairs_[count_ > kPairs ? count_ % kPairs : 0].mono_ns;
    return double(pairs_[(count_ - 1) % kPairs].mono_ns - oldest_ns);
}

void ClockLine::fit()
{
    const size_t known = std::min(count_, kPairs);
    origin_ns_ = pairs_[(count_ - 1) % kPairs].mono_ns;
    origin_ticks_ = pairs_[(count_ - 1) % kPairs].ticks;
    double mean_ns = 0, mean_ticks = 0, squares = 0, products = 0;
    const auto ns_of = [&](size_t i) { return double(int64_t(pairs_[i].mono_ns - origin_ns_)); };
    const auto ticks_of = [&](size_t i) {
        return double(int64_t(pairs_[i].ticks - origin_ticks_));
    };
    for (size_t i = 0; i < known; ++i) {
        mean_ns += ns_of(i) / double(known);
        mean_ticks += ticks_of(i) / double(known);
    }
    for (size_t i = 0; i < known; ++i) {
        squares += (ns_of(i) - mean_ns) * (ns_of(i) - mean_ns);
        products += (ns_of(i) - mean_ns) * (ticks_of(i) - mean_ticks);
    }
    slope_ = products / squares;
    offset_ = mean_ticks - slope_ * mean_ns;
}

uint64_t ClockLine::ticks_at(uint64_t mono_ns) const
{
    const double from_origin = double(int64_t(mono_ns - origin_ns_));
    return origin_ticks_ + uint64_t(std::llround(offset_ + slope_ * from_origin));
}
} // namespace nsbpf
