// SPDX-License-Identifier: MIT
// analyse: sums over slices of the records inside them, by name.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/names.hpp"

namespace nsdump
{
// Records of one name inside a slice.
struct InsideCount {
    NameId name = 0;
    uint32_t pairs = 0;
    uint32_t marks = 0;
    uint32_t direct = 0; // pairs that are in no other slice inside

    uint64_t records() const { return uint64_t{pairs} + marks; }
};

// Sums over slices of the records of one name inside them.
struct InsideSum {
    NameId name = 0;
    uint64_t pairs = 0;
    uint64_t marks = 0;
    uint64_t direct = 0;
    uint64_t kept = 0;  // pairs and marks in slices that are not among the trimmed ones
    double squares = 0; // of the number of pairs and marks
};

// In the order of their first records.  A few are searched one by one; of more, the places are
// kept by hash.
class InsideSums
{
public:
    InsideSum &at(NameId name);               // adds a missing one
    const InsideSum *find(NameId name) const; // null if it is missing
    InsideSum &add(const InsideCount &one)
    {
        InsideSum &sum = at(one.name);
        sum.pairs += one.pairs;
        sum.marks += one.marks;
        sum.direct += one.direct;
        sum.squares += double(one.records()) * double(one.records());
        return sum;
    }
    void merge(const InsideSums &other);

    bool empty() const { return sums_.empty(); }
    size_t size() const { return sums_.size(); }
    const InsideSum &operator[](size_t place) const { return sums_[place]; }
    auto begin() const { return sums_.begin(); }
    auto end() const { return sums_.end(); }

private:
    static constexpr size_t kFew = 8;

    size_t place_of(NameId name) const; // size() if it is missing
    size_t slot_of(NameId name) const;  // where it is, or the free one where it belongs
    void widen();

    std::vector<InsideSum> sums_;
    std::vector<uint32_t> slots_; // 1 + place; 0: free; a power of two, at least half free
};
} // namespace nsdump
