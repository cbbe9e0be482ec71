// SPDX-License-Identifier: MIT
// analyse: cells that belong together, with their means -> numbers of records inside.
#pragma once

#include <vector>

#include "analyse/thinning/cells/cell.hpp"
#include "analyse/thinning/cells/clusters.hpp"

namespace nsdump
{
// Fewer give no error that could be trusted.
inline constexpr size_t kLeastEpochs = 8;

// The mean of a part of a cell's slices.
struct PartMean {
    ClusteredMean clusters; // of the values clipped to its bounds
    double value = 0;
    double standard_error = 0;
    double rounding_bound = 0;
};

// The slices of a name while the same names inside them were off.
struct MergedCell {
    std::vector<NameId> off;
    Cell cell;
    PartMean trimmed, middle;
    double behind = 0; // share of slices whose STOP is right behind their START
};

// Numbers of records of a name in the slices of all cells in which it is on.
struct Records {
    double all = 0, squares = 0, slices = 0;
    double kept = 0, kept_slices = 0; // in the slices that are not trimmed
};

Records records_of(const std::vector<MergedCell> &cells, NameId name);

// Mean number of records in the part of the slices that the trimmed mean is of: that is how often
// their cost is in the trimmed mean.  If the number is always the same, in the midmean as well.
double records_per_slice(const std::vector<MergedCell> &cells, NameId name);

// Slices around many others take so long that short disturbances hit more of them than are trimmed,
// and the costs of what is inside contain a part of those.  The midmean leaves out more.  It
// may be used only if all slices have as many records inside: otherwise, slices with more records
// are in it more often if these are off than if they are on.
bool may_use_midmeans(const std::vector<MergedCell> &cells, const std::vector<NameId> &inside);
} // namespace nsdump
