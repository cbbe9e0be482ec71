// SPDX-License-Identifier: MIT
// analyse: slices, units and marks of a part of a trace -> those that end in the range asked for.
#pragma once

#include "analyse/pair/slice.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
// Whether the run that is being paired lies before the range, for several sinks.
class RangeGate
{
public:
    explicit RangeGate(uint64_t from_ticks) : from_ticks_(from_ticks) {}

    void note(const Run &run) { is_open_ = !run.is_lead_in; }
    bool is_open() const { return is_open_; }
    bool is_everything() const { return from_ticks_ == 0; }
    // Some slices are passed on after their STOP.
    bool has_end_of(const Slice &slice) const { return slice.stop_ticks >= from_ticks_; }

private:
    uint64_t from_ticks_; // 0: everything
    bool is_open_ = true;
};

// Sink of the pairer that passes on what ends in the range.
template <class Sink> class InRange
{
public:
    InRange(const RangeGate &gate, Sink &sink) : gate_(gate), sink_(sink) {}

    void slice(const Slice &slice)
    {
        if (gate_.has_end_of(slice)) [[likely]]
            sink_.slice(slice);
    }
    [[gnu::always_inline]] bool plain(const PlainSlice &slice) requires TakesPlainSlices<Sink>
    {
        return gate_.is_everything() && sink_.plain(slice);
    }
    [[gnu::always_inline]] bool leaves(const LeavesSlice &slice) requires TakesPlainSlices<Sink>
    {
        return gate_.is_everything() && sink_.leaves(slice);
    }
    void unit(const Unit &unit)
    {
        if (gate_.is_open())
            sink_.unit(unit);
    }
    void mark(NameId name, uint64_t value)
    {
        if (gate_.is_open())
            sink_.mark(name, value);
    }
    void unmatched_stop(NameId name, const Unit *unit,
                        uint64_t ticks) requires TakesUnmatchedStops<Sink>
    {
        if (gate_.is_open())
            sink_.unmatched_stop(name, unit, ticks);
    }
    bool is_spread() const requires requires(const Sink &sink) { sink.is_spread(); }
    {
        return sink_.is_spread();
    }
    void expect(NameId name) const { sink_.expect(name); }

private:
    const RangeGate &gate_;
    Sink &sink_;
};
} // namespace nsdump
