// SPDX-License-Identifier: MIT
// Ranking: counts only grow, so a value can enter the top ranks only by its own growth.
#include "functions/flows/ranking.hpp"

#include <algorithm>

#include "functions/common/random_seed.hpp"

namespace mapi::functions
{
Ranking::Ranking(size_t ranks, bool is_by_bytes, size_t values_max)
    : ranks_(ranks), is_by_bytes_(is_by_bytes), values_max_(values_max),
      values_(0, Hash{random_seed()})
{
    top_.reserve(ranks_);
}

bool Ranking::add(const FieldValue &value, uint64_t bytes)
{
    auto found = values_.find(value);
    if (found == values_.end()) {
        if (values_.size() >= values_max_)
            return false;
        found = values_.try_emplace(value).first;
    }
    Row &row = *found;
    ++row.second.packets;
    row.second.bytes += bytes;
    if (row.second.rank == kUnranked)
        enter(row);
    if (row.second.rank != kUnranked)
        rise(row);
    return true;
}

// Appends the row if there is room, or replaces the last one if its count is higher.
void Ranking::enter(Row &row)
{
    if (top_.size() < ranks_)
        top_.push_back(nullptr);
    else if (amount(row) > amount(*top_.back()))
        top_.back()->second.rank = kUnranked;
    else
        return;
    top_.back() = &row;
    row.second.rank = uint32_t(top_.size() - 1);
}

void Ranking::rise(Row &row)
{
    const auto at = top_.begin() + row.second.rank;
    const auto above = std::partition_point(
        top_.begin(), at, [&](const Row *other) { return amount(*other) >= amount(row); });
    std::rotate(above, at, at + 1);
    for (auto moved = above; moved <= at; ++moved)
        (*moved)->second.rank = uint32_t(moved - top_.begin());
    note_change(size_t(above - top_.begin()), size_t(at - top_.begin()) + 1);
}

void Ranking::note_change(size_t first, size_t last)
{
    changed_from_ = std::min(changed_from_, first);
    changed_until_ = std::max(changed_until_, last);
}

std::pair<size_t, size_t> Ranking::take_changes()
{
    const std::pair changes(std::min(changed_from_, changed_until_),
                            std::min(changed_until_, top_.size()));
    changed_from_ = SIZE_MAX;
    changed_until_ = 0;
    return changes;
}

void Ranking::clear()
{
    values_.clear();
    top_.clear();
    changed_from_ = SIZE_MAX;
    changed_until_ = 0;
}
} // namespace mapi::functions
