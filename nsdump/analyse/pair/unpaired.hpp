// SPDX-License-Identifier: MIT
// analyse: events that could not become a slice or a unit -> counts by name.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/names.hpp"

namespace nsdump
{
struct UnpairedCounts {
    uint64_t unmatched_start = 0;
    uint64_t unmatched_stop = 0;
    uint64_t too_deep = 0;

    bool any() const { return (unmatched_start | unmatched_stop | too_deep) != 0; }
    UnpairedCounts &operator+=(const UnpairedCounts &other)
    {
        unmatched_start += other.unmatched_start;
        unmatched_stop += other.unmatched_stop;
        too_deep += other.too_deep;
        return *this;
    }
};

class UnpairedByName
{
public:
    const UnpairedCounts &operator[](NameId name) const
    {
        static const UnpairedCounts kNone;
        return name < counts_.size() ? counts_[name] : kNone;
    }
    UnpairedCounts &of(NameId name)
    {
        if (name >= counts_.size())
            counts_.resize(name + 1);
        return counts_[name];
    }
    UnpairedByName &operator+=(const UnpairedByName &other)
    {
        for (NameId name = 0; name < other.counts_.size(); ++name)
            if (other.counts_[name].any())
                of(name) += other.counts_[name];
        return *this;
    }

private:
    std::vector<UnpairedCounts> counts_;
};

// Of one side.
struct Unpaired {
    UnpairedByName slices;
    UnpairedByName units;
    uint64_t malformed_events = 0; // wrong number of words for their kind

    Unpaired &operator+=(const Unpaired &other)
    {
        slices += other.slices;
        units += other.units;
        malformed_events += other.malformed_events;
        return *this;
    }
};
} // namespace nsdump
