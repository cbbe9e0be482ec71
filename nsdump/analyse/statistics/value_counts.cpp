// SPDX-License-Identifier: MIT
// analyse: raw times -> how often each occurred, by shape; the rare paths.
#include "analyse/statistics/value_counts.hpp"

#include <algorithm>

namespace nsdump
{
void ValueCounts::enter(uint64_t entry)
{
    size_t at = place_of(entry >> kNumberBits);
    while (index_[at] != 0)
        at = (at + 1) & (index_.size() - 1);
    index_[at] = entry;
}

size_t ValueCounts::add_line(uint64_t key)
{
    if (lines_.size() == kMaxLines)
        return kMaxLines;
    if (2 * lines_.size() >= index_.size()) {
        std::vector<uint64_t> before(std::max(2 * index_.size(), kMinIndex));
        before.swap(index_);
        for (const uint64_t entry : before)
            if (entry != 0)
                enter(entry);
    }
    if (lines_.size() == lines_.capacity())
        lines_.reserve(lines_.size() + std::max<size_t>(lines_.size() / 2, 4));
    lines_.emplace_back();
    enter(key << kNumberBits | lines_.size());
    return lines_.size() - 1;
}

void ValueCounts::clear()
{
    std::fill(index_.begin(), index_.end(), 0);
    lines_.clear();
}
} // namespace nsdump
