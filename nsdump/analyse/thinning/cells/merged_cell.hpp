// SPDX-License-Identifier: MIT
// analyse: cells that belong together, with their means -> numbers of records inside.
#pragma once

#include <cstddef>
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

// Mean number of records in the part of the slices that the trimmed mean is of: that is how often
// their cost is in the trimmed mean.  If the number is always the same, in the midmean as well.
double records_per_slice(const std::vector<MergedCell> &cells, NameId name);

// Whether all slices have the same number of records of each name inside, and many in total.
// Slices around many others take so long that short disturbances hit more of them than are trimmed.
// The midmean leaves out more.  If numbers of records differed, slices with more of them would be
// in the midmean more often if these are off than if they are on.
bool may_use_midmeans(const std::vector<MergedCell> &cells, const std::vector<NameId> &inside);
} // namespace nsdump
