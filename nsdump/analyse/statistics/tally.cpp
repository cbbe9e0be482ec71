// SPDX-License-Identifier: MIT
// analyse: short slices -> counts by value.
#include "analyse/statistics/tally.hpp"

#include <algorithm>

namespace nsdump
{
Tally *Tallies::find_slowly(const Shape &shape, Tally *&hint, size_t &left)
{
    const auto found = std::find_if(tallies_.begin(), tallies_.end(),
                                    [&](const auto &tally) { return tally->shape == shape; });
    if (found != tallies_.end())
        return hint = found->get();
    if (tallies_.size() == kMax || left == 0)
        return nullptr;
    --left;
    tallies_.push_back(std::make_unique<Tally>());
    hint = tallies_.back().get();
    hint->shape = shape;
    return hint;
}

void Tallies::clear()
{
    hints_ = {};
    tallies_.clear();
}
} // namespace nsdump
