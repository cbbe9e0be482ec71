// SPDX-License-Identifier: MIT
// Sampler: mask of packets -> mask of the sampled ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace mapi::functions
{
// Every n-th packet: number n, 2n, 3n ... of the packets it gets.
class PeriodicSampler
{
public:
    explicit PeriodicSampler(uint64_t period) : period_(period), until_next_(period) {}

    uint64_t sample(uint64_t mask)
    {
        uint64_t kept = 0;
        uint64_t left = uint64_t(std::popcount(mask));
        while (left >= until_next_) {
            for (uint64_t skip = until_next_ - 1; skip > 0; --skip)
                mask &= mask - 1;
            kept |= mask & -mask;
            mask &= mask - 1;
            left -= until_next_;
            until_next_ = period_;
        }
        until_next_ -= left;
        return kept;
    }

    void reset() { until_next_ = period_; }

    uint64_t period() const { return period_; }
    // As after so many packets since the last reset.
    void continue_after(uint64_t packets) { until_next_ = period_ - packets % period_; }

private:
    uint64_t period_;
    uint64_t until_next_;
};

// Each packet independently with a probability, with a resolution of 2^-64.  Uses its own state, so
// that it neither affects other flows nor calls rand().
class ProbabilisticSampler
{
public:
    ProbabilisticSampler(double probability, uint64_t seed)
        : threshold_(probability >= 1.0 ? ~uint64_t(0) : uint64_t(std::ldexp(probability, 64))),
          keep_all_(probability >= 1.0), state_(seed)
    {
    }

    // Of 2^32, for a generator of 32 bits.
    uint64_t threshold_of_32_bits() const
    {
        return keep_all_ ? uint64_t(1) << 32 : threshold_ >> 32;
    }

    uint64_t sample(uint64_t mask)
    {
        if (keep_all_)
            return mask;
        uint64_t kept = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
            kept |= next() < threshold_ ? rest & -rest : 0;
        return kept;
    }

private:
    // splitmix64: passes the usual statistical test suites with one word of state and a few cycles.
    uint64_t next()
    {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    uint64_t threshold_;
    bool keep_all_;
    uint64_t state_;
};
} // namespace mapi::functions
