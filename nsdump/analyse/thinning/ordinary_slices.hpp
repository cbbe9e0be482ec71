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
// A probe that is off still executes an instruction or a few, and a slice inside that is off is not
// known to be there.  So counters, and self, are only counted while all probes are known to be on.
//
// A START before and a STOP after an epoch in which the name was off need not belong together: the
// slice may have stopped, and another one started, while it was off.
class OrdinarySlices
{
public:
    // Longer gaps between epochs hold others that are not listed: the shortest lasts 125 us.
    static constexpr double kLongestGapSeconds = 120e-6;

    // `all`: times of all slices.  `complete`: slices that began and ended with all probes on.
    OrdinarySlices(const NameTable &names, const ThinningCollector &thinned, const Clock &clock,
                   StatsCollector &all, StatsCollector &complete, bool is_stepping)
        : thinned_(thinned), epochs_(thinned.epochs()), all_(all), complete_(complete),
          is_stepping_(is_stepping), off_epochs_(names.size())
    {
        for (uint32_t epoch = 0; epoch < epochs_.size(); ++epoch)
            for (const NameId name : epochs_.names_of(epochs_[epoch].set))
                off_epochs_[name].push_back(epoch);
        count_doubts(uint64_t(kLongestGapSeconds * (clock.hz > 0 ? clock.hz : 1e9)));
    }

    void slice(const Slice &slice)
    {
        const auto view = thinned_.view_of(slice);
        bool is_complete = !epochs_.has_missing() || !view.is_trusted;
        if (view.is_trusted && view.range.begin < view.range.end) {
            const uint32_t begin = first_after(slice.start_ticks, view.range),
                           end = first_after(slice.stop_ticks, view.range);
            if (begin != end && holds_off_epoch(slice, begin, view.range.end)) {
                ++doubtful_;
                return;
            }
            is_complete = are_all_on(slice, view.range, begin, end);
        }
        if (!slice.counters) {
            all_.slice(slice);
        } else if (!is_stepping_) {
            Slice timed = slice;
            timed.counters = timed.child_counters = nullptr;
            all_.slice(timed);
        }
        if (is_complete)
            complete_.slice(slice);
    }
    // See Pairer.
    bool is_spread() const { return all_.is_spread(); }
    void expect(NameId name) const
    {
        all_.expect(name);
        complete_.expect(name);
    }
    void unit(const Unit &unit) { all_.unit(unit); }
    void mark(NameId name, uint64_t value) { all_.mark(name, value); }
    // Slices that are left out, because their STOP may be that of another one.
    uint64_t doubtful() const { return doubtful_; }

private:
    // Whether its name was off in an epoch between its START and its STOP.  `first`: the first
    // epoch that begins after its START.
    bool holds_off_epoch(const Slice &slice, uint32_t first, uint32_t end) const
    {
        if (slice.name >= off_epochs_.size())
            return false;
        const std::vector<uint32_t> &off = off_epochs_[slice.name];
        const auto found = std::lower_bound(off.begin(), off.end(), first);
        return found != off.end() && *found < end && epochs_[*found].end_ticks < slice.stop_ticks;
    }
    // Two places for each epoch, the gap before it and the epoch itself: in how many before each
    // place something was off or may have been.
    void count_doubts(uint64_t longest_gap)
    {
        doubts_.push_back(0);
        for (uint32_t epoch = 0; epoch < epochs_.size(); ++epoch) {
            const bool is_first = epochs_.is_first(epoch);
            const bool is_gap_doubtful =
                is_first
                    ? epochs_.has_missing()
                    : epochs_[epoch].begin_ticks < epochs_[epoch - 1].end_ticks ||
                          epochs_[epoch].begin_ticks - epochs_[epoch - 1].end_ticks > longest_gap;
            doubts_.push_back(doubts_.back() + is_gap_doubtful);
            doubts_.push_back(doubts_.back() + epochs_.has_off(epoch));
        }
    }
    // Whether nothing was off in the epochs and gaps that it overlaps, and in those at both ends of
    // a gap that it overlaps.  `begin` and `end`: the first epochs that begin after its START and
    // STOP.
    bool are_all_on(const Slice &slice, const EpochTable::Range &range, uint32_t begin,
                    uint32_t end) const
    {
        // A program that was killed has not listed its last epochs; one that ended thinning has.
        if (end == range.end && !epochs_[end - 1].holds(slice.stop_ticks) &&
            !epochs_.is_end(end - 1))
            return false;
        const size_t first = begin > range.begin ? 2 * size_t{begin} - 1 : 2 * size_t{begin};
        if (end == range.begin) // before the first epoch
            return doubts_[first + 1] == doubts_[first];
        const bool is_in_gap = end < range.end && !epochs_[end - 1].holds(slice.stop_ticks);
        const size_t last = 2 * size_t{end} - 1 + (is_in_gap ? 2 : 0);
        return doubts_[last + 1] == doubts_[first];
    }
    // The first epoch that begins after this time: mostly the same as for the slice before.
    uint32_t first_after(uint64_t ticks, const EpochTable::Range &range)
    {
        uint32_t low = range.begin, high = range.end;
        if (last_ >= low && last_ <= high &&
            (last_ == low || epochs_[last_ - 1].begin_ticks <= ticks) &&
            (last_ == high || epochs_[last_].begin_ticks > ticks)) [[likely]]
            return last_;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (epochs_[middle].begin_ticks <= ticks)
                low = middle + 1;
            else
                high = middle;
        }
        return last_ = low;
    }

    const ThinningCollector &thinned_;
    const EpochTable &epochs_;
    StatsCollector &all_;
    StatsCollector &complete_;
    bool is_stepping_;
    std::vector<std::vector<uint32_t>> off_epochs_; // by name, ascending
    std::vector<uint32_t> doubts_;                  // see count_doubts()
    uint32_t last_ = 0;
    uint64_t doubtful_ = 0;
};
} // namespace nsdump
