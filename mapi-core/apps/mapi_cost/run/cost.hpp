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
// A pass ended without a complete unit: too few packets for the scenario, or every unit was
// interrupted.
class NothingMeasured : public std::runtime_error
{
public:
    explicit NothingMeasured(uint64_t units_left_out)
        : std::runtime_error("no complete unit was measured"), units_left_out_(units_left_out)
    {
    }
    // Units that were measured, but cut by an interrupt, a migration or a loss.
    uint64_t units_left_out() const { return units_left_out_; }

private:
    uint64_t units_left_out_;
};

struct Measured {
    double raw = 0;
    double net = 0;
    std::optional<double> ci95; // half width of net's interval; nullopt: a single block cannot show
                                // how the cost varies
    uint64_t packets = 0;
    double bound = 0;     // part of ci95 that is the same in all passes
    double own_bound = 0; // part of it: own reads of the counted slices, the same in all rows
};

struct PartCost {
    std::string name;
    double net = 0;
    bool is_counted = true; // part of the row's cost
};

struct Cost {
    Measured whole;
    std::vector<PartCost> parts; // the counted ones add up to whole.net
};

// Of the blocks with the same packets, a fifth is trimmed at each end to remove what interrupts and
// other programs did to the clock.
Cost trimmed_cost(const TraceSums &sums);
// Over passes of the same load, none of which is empty.  What differs between passes (placement in
// memory and caches, what else the machine does) is the same within a pass, so the interval is that
// of the passes' costs, but never less than what the blocks show.  A fifth of the passes is trimmed
// at each end.
Cost cost_of_passes(const std::vector<Cost> &passes);

// What each of `further` flows adds: differences between passes at the same position, which ran one
// after the other.
Measured further_of_passes(const std::vector<Cost> &one, const std::vector<Cost> &many,
                           unsigned further);

// Over all blocks: interrupts and other programs do not affect instruction counts.
Cost mean_cost(const TraceSums &sums);

// What each of `further` flows adds in counts: the differences over units that are complete in both
// passes, which is exact.  Throws NothingMeasured if there is no such unit.
Measured further_counts(const TraceSums &one, const TraceSums &many, unsigned further);
} // namespace mapi_cost
