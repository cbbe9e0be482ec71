// SPDX-License-Identifier: MIT
// interval_set: numbers of a fixed width as sorted, disjoint ranges.
#pragma once

#include <algorithm>
#include <vector>

namespace snort2sids
{
template <class Number> struct Range {
    Number least, most; // both included
    bool operator==(const Range &other) const { return least == other.least && most == other.most; }
};

// Unique for a set: equal sets have equal ranges.
template <class Number> class IntervalSet
{
public:
    static constexpr Number kMost = Number(~Number(0));

    IntervalSet() = default;
    IntervalSet(Number least, Number most) : ranges_{{least, most}} {}
    static IntervalSet full() { return {Number(0), kMost}; }

    const std::vector<Range<Number>> &ranges() const { return ranges_; }
    bool is_empty() const { return ranges_.empty(); }
    bool is_full() const { return *this == full(); }
    bool operator==(const IntervalSet &other) const { return ranges_ == other.ranges_; }

    IntervalSet complement() const
    {
        IntervalSet rest;
        Number next = 0;
        for (const Range<Number> &range : ranges_) {
            if (range.least > next)
                rest.ranges_.push_back({next, Number(range.least - 1)});
            if (range.most == kMost)
                return rest;
            next = Number(range.most + 1);
        }
        rest.ranges_.push_back({next, kMost});
        return rest;
    }

    IntervalSet minus(const IntervalSet &other) const
    {
        std::vector<Range<Number>> all = complement().ranges_;
        all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
        return of(std::move(all)).complement();
    }

    static IntervalSet of(std::vector<Range<Number>> ranges)
    {
        std::sort(ranges.begin(), ranges.end(),
                  [](const auto &one, const auto &two) { return one.least < two.least; });
        IntervalSet set;
        for (const Range<Number> &range : ranges) {
            if (set.ranges_.empty() || (set.ranges_.back().most != kMost &&
                                        Number(set.ranges_.back().most + 1) < range.least))
                set.ranges_.push_back(range);
            else
                set.ranges_.back().most = std::max(set.ranges_.back().most, range.most);
        }
        return set;
    }

private:
    std::vector<Range<Number>> ranges_;
};
} // namespace snort2sids
