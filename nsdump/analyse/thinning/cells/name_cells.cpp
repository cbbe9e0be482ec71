// SPDX-License-Identifier: MIT
// analyse: the slices of one name, in cells by what was off.
#include "analyse/thinning/cells/name_cells.hpp"

namespace nsdump
{
Cell &NameCells::cell_at(uint32_t set, double step)
{
    if (set >= cells.size())
        cells.resize(set + 1);
    if (!cells[set])
        cells[set] = std::make_unique<Cell>(reference, step);
    return *cells[set];
}

void NameCells::add_to_cell(const ThinnedSlice &slice, const EpochTable &epochs, double step)
{
    const uint32_t set = epochs[slice.epoch].set;
    // Names beyond the limit only matter with all probes on.
    const bool counts_all = set == 0 || inside.size() < kMaxInside;
    cell_at(set, step).add(slice, counts_all ? nullptr : &inside);
}

void NameCells::add_to_cells(std::span<const BareSlice> slices, const EpochTable &epochs,
                             double step)
{
    ThinnedSlice slice;
    for (const BareSlice &one : slices) {
        slice.raw = double(one.ticks);
        slice.epoch = uint32_t(one.epoch);
        slice.cpu_index = uint32_t(one.cpu_index);
        add_to_cell(slice, epochs, step);
    }
}

void NameCells::finish_cells()
{
    for (const auto &cell : cells)
        if (cell)
            cell->finish();
}

void NameCells::drop_cells()
{
    if (!inside.empty() && !cells.empty() && cells[0])
        all_on = std::make_unique<AllOn>(AllOn{cells[0]->count(), cells[0]->inside()});
    release(cells);
}
} // namespace nsdump
