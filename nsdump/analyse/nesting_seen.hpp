// SPDX-License-Identifier: MIT
// analyse: slices -> the statistics, and whether one lies inside another.
#pragma once

#include "analyse/statistics/stats.hpp"

namespace nsdump
{
// Sink that also notes whether there was something for random thinning to switch off.
class NestingSeen
{
public:
    explicit NestingSeen(StatsCollector &statistics) : statistics_(statistics) {}

    void slice(const Slice &slice)
    {
        has_nested_ |= (slice.inside.ends | slice.inside.marks) != 0;
        statistics_.slice(slice);
    }
    // The statistics refuse both for a shape that slice() has not had.
    [[gnu::always_inline]] bool plain(const PlainSlice &slice) { return statistics_.plain(slice); }
    [[gnu::always_inline]] bool leaves(const LeavesSlice &slice)
    {
        return statistics_.leaves(slice);
    }
    bool is_spread() const { return statistics_.is_spread(); }
    void expect(NameId name) const { statistics_.expect(name); }
    void unit(const Unit &unit) { statistics_.unit(unit); }
    void mark(NameId name, uint64_t value) { statistics_.mark(name, value); }
    bool has_nested() const { return has_nested_; }

private:
    StatsCollector &statistics_;
    bool has_nested_ = false;
};
static_assert(TakesPlainSlices<NestingSeen>);
} // namespace nsdump
