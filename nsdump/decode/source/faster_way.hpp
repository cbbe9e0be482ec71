// SPDX-License-Identifier: MIT
// decode: the time that each of two ways took -> the one that is faster on this machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace nsdump
{
// Both ways do the same work, part by part.  They take turns until each has done kParts; from then
// on the faster one does the rest.
class FasterWay
{
public:
    static constexpr size_t kParts = 16; // so that one that is disturbed has no effect
    // The other way also takes what is in too few parts for their median: unmapping a window.
    static constexpr double kLeastGain = 1.0 / 32;

    bool is_decided() const { return is_decided_; }
    // Whether the other way, not the plain one, is to do the next part.
    bool is_other() const { return is_other_; }
    // The cost of the part that is_other() said how to do.  Until then, that does not change.
    void note(double cost)
    {
        if (is_decided_)
            return;
        costs_[is_other_][parts_[is_other_]++] = cost;
        is_other_ = !is_other_;
        if (parts_[0] < kParts || parts_[1] < kParts)
            return;
        is_decided_ = true;
        is_other_ = median(costs_[1]) < (1 - kLeastGain) * median(costs_[0]);
    }

private:
    using Costs = std::array<double, kParts>;

    static double median(Costs costs)
    {
        std::ranges::nth_element(costs, costs.begin() + kParts / 2);
        return costs[kParts / 2];
    }

    std::array<Costs, 2> costs_{}; // of the plain way, of the other one
    std::array<size_t, 2> parts_{};
    bool is_decided_ = false;
    bool is_other_ = false;
};
} // namespace nsdump
