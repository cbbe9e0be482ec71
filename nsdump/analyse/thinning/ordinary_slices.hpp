// SPDX-License-Identifier: MIT
// analyse: slices of a trace with epochs -> the ordinary statistics; the sink of the pairer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyse/statistics/stats.hpp"
#include "analyse/thinning/collector.hpp"

namespace nsdump
{
// A probe that is off still executes an instruction or two, and a slice inside that is off is not
// known to be there.  So counters, and self, are only counted while all probes are on.
//
// A START before and a STOP after an epoch in which the name was off need not belong together: the
// slice may have stopped, and another one started, while it was off.
class OrdinarySlices
{
public:
    // `all`: times of all slices.  `complete`: slices that began and ended with all probes on.
    OrdinarySlices(const NameTable &names, const ThinningCollector &thinned, StatsCollector &all,
                   StatsCollector &complete, bool is_stepping)
        : thinned_(thinned), epochs_(thinned.epochs()), all_(all), complete_(complete),
          is_stepping_(is_stepping), off_epochs_(names.size())
    {
        off_until_.push_back(0);
        for (uint32_t epoch = 0; epoch < epochs_.size(); ++epoch) {
            const auto names_off = epochs_.names_of(epochs_[epoch].set);
            off_until_.push_back(off_until_.back() + !names_off.empty());
            for (const NameId name : names_off)
                off_epochs_[name].push_back(epoch);
        }
    }

    void slice(const Slice &slice)
    {
        const auto thread = thinned_.thread(slice.thread_id);
        const bool is_thinned = thread.is_trusted && thread.range.begin < thread.range.end;
        if (is_thinned && holds_off_epoch(slice, thread.range)) {
            ++doubtful_;
            return;
        }
        if (!(is_stepping_ && slice.counters)) {
            Slice timed = slice;
            timed.counters = timed.child_counters = nullptr;
            all_.slice(timed);
        }
        if (!is_thinned || is_complete(slice, thread.range))
            complete_.slice(slice);
    }
    void unit(const Unit &unit) { all_.unit(unit); }
    void mark(NameId name, uint64_t value) { all_.mark(name, value); }
    // Slices that are left out, because their STOP may be that of another one.
    uint64_t doubtful() const { return doubtful_; }

private:
    // Whether its name was off in an epoch between its START and its STOP.
    bool holds_off_epoch(const Slice &slice, const EpochTable::Range &range) const
    {
        if (slice.name >= off_epochs_.size())
            return false;
        const std::vector<uint32_t> &off = off_epochs_[slice.name];
        const auto begin = std::lower_bound(off.begin(), off.end(), range.begin);
        const auto end = std::lower_bound(begin, off.end(), range.end);
        const auto first =
            std::upper_bound(begin, end, slice.start_ticks, [this](uint64_t ticks, uint32_t epoch) {
                return ticks < epochs_[epoch].begin_ticks;
            });
        return first != end && epochs_[*first].end_ticks < slice.stop_ticks;
    }
    // Whether nothing was off in the epochs that it overlaps, and in those at both ends of a gap
    // that it overlaps.
    bool is_complete(const Slice &slice, const EpochTable::Range &range) const
    {
        uint32_t begin = first_after(slice.start_ticks, range),
                 end = first_after(slice.stop_ticks, range);
        if (begin > range.begin &&
            (begin < range.end || epochs_[begin - 1].holds(slice.start_ticks)))
            --begin;
        const bool is_in_gap =
            end > range.begin && end < range.end && !epochs_[end - 1].holds(slice.stop_ticks);
        return off_until_[end + is_in_gap] == off_until_[begin];
    }
    // The first epoch that begins after this time.
    uint32_t first_after(uint64_t ticks, const EpochTable::Range &range) const
    {
        uint32_t low = range.begin, high = range.end;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (epochs_[middle].begin_ticks <= ticks)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    const ThinningCollector &thinned_;
    const EpochTable &epochs_;
    StatsCollector &all_;
    StatsCollector &complete_;
    bool is_stepping_;
    std::vector<std::vector<uint32_t>> off_epochs_; // by name, ascending
    std::vector<uint32_t> off_until_;               // epochs before this one with something off
    uint64_t doubtful_ = 0;
};
} // namespace nsdump
