// SPDX-License-Identifier: MIT
// A seed -> random numbers; a separate generator, so that a seed gives the same trials with every
// library.
#pragma once

#include <cmath>
#include <cstdint>

namespace simulation
{
class Random
{
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    // Between 0 and 1, both excluded.
    double uniform() { return (double(next() >> 11) + 0.5) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    // Polar method of Marsaglia.
    double normal()
    {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        double x, y, square;
        do {
            x = uniform(-1, 1);
            y = uniform(-1, 1);
            square = x * x + y * y;
        } while (square >= 1 || square == 0);
        const double factor = std::sqrt(-2 * std::log(square) / square);
        spare_ = y * factor;
        has_spare_ = true;
        return x * factor;
    }

private:
    uint64_t next() // splitmix64
    {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    uint64_t state_;
    double spare_ = 0;
    bool has_spare_ = false;
};
} // namespace simulation
