// SPDX-License-Identifier: MIT
// analyse: cells that belong together, with their means -> numbers of records inside.
#include "analyse/thinning/cells/merged_cell.hpp"

#include <algorithm>
#include <cmath>

namespace nsdump
{
namespace
{
// Numbers of records of a name in the slices of all cells in which it is on.
struct Records {
    double all = 0, squares = 0, slices = 0;
    double kept = 0, kept_slices = 0; // in the slices that are not trimmed
};

Records records_of(const std::vector<MergedCell> &cells, NameId name)
{
    Records out;
    for (const MergedCell &one : cells) {
        if (std::binary_search(one.off.begin(), one.off.end(), name) ||
            one.trimmed.clusters.clusters < kLeastEpochs)
            continue;
        if (const InsideSum *const sum = one.cell.inside().find(name)) {
            out.all += double(sum->pairs + sum->marks);
            out.squares += sum->squares;
            out.kept += double(sum->kept);
        }
        out.slices += double(one.cell.count());
        out.kept_slices += double(one.cell.kept());
    }
    return out;
}
} // namespace

double records_per_slice(const std::vector<MergedCell> &cells, NameId name)
{
    const Records records = records_of(cells, name);
    return records.kept_slices > 0 ? records.kept / records.kept_slices : 0;
}

bool may_use_midmeans(const std::vector<MergedCell> &cells, const std::vector<NameId> &inside)
{
    constexpr double kManyRecords = 10, kMostVariation = 0.01;
    double total = 0;
    for (const NameId name : inside) {
        const Records records = records_of(cells, name);
        if (!(records.slices > 0))
            return false;
        const double mean = records.all / records.slices;
        const double variance = records.squares / records.slices - mean * mean;
        if (variance > std::pow(kMostVariation * mean, 2))
            return false;
        total += mean;
    }
    return total >= kManyRecords;
}
} // namespace nsdump
