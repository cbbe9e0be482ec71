// SPDX-License-Identifier: MIT
// cost: sums of a pass -> cost of one packet (or call) with its interval, whole and by part.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "trace_sums.hpp"

namespace mapi_cost
{
// A pass ended before it had a whole unit: too few packets for the scenario, or every unit was interrupted.
class NothingMeasured : public std::runtime_error
{
public:
    explicit NothingMeasured(std::uint64_t units_left_out)
        : std::runtime_error("no whole unit was measured"), units_left_out_(units_left_out)
    {
    }
    // Measured, but cut by an interrupt, a migration or a loss.
    std::uint64_t units_left_out() const { return units_left_out_; }

private:
    std::uint64_t units_left_out_;
};

struct Measured {
    double raw = 0;
    double net = 0;
    std::optional<double> ci95; // half width, of net; none: one block alone tells nothing of how the cost varies
    std::uint64_t packets = 0;
};

struct PartCost {
    std::string name;
    double net = 0;
    bool is_counted = true; // lies in the row's cost
};

struct Cost {
    Measured whole;
    std::vector<PartCost> parts; // the counted ones add up to whole.net
};

// Of the blocks with the same packets a fifth is left out at either end: what interrupts and other programs did to the
// clock goes.
Cost trimmed_cost(const TraceSums &sums);
// Of all blocks: instruction counts have no such guests.
Cost mean_cost(const TraceSums &sums);

// What one of `further` flows adds.  Times: the difference of the trimmed costs, intervals added in quadrature.  Counts: the
// differences of the units that both passes have whole, which is exact.  Throws NothingMeasured when they share none.
Measured further_cost(const TraceSums &one, const TraceSums &many, unsigned further, bool is_trimmed);
} // namespace mapi_cost
