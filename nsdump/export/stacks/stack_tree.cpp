// SPDX-License-Identifier: MIT
// stacks: slices with the frames around them -> a tree of distinct stacks with sums.
#include "export/stacks/stack_tree.hpp"

namespace nsdump
{
StackTree::StackTree(size_t max_stacks) : max_stacks_(max_stacks), nodes_(2)
{
    nodes_[kRoot].name = nodes_[kOther].name = NameTable::kNone;
}

uint32_t StackTree::inside(uint32_t parent, NameId name, bool is_unit)
{
    if (parent == kOther)
        return kOther;
    constexpr uint64_t kUnitBit = uint64_t{1} << 63;
    const uint64_t key = uint64_t{parent} << 32 | name | (is_unit ? kUnitBit : 0);
    if (const auto found = places_.find(key); found != places_.end())
        return found->second;
    if (nodes_.size() >= max_stacks_ + 2)
        return kOther;
    const auto place = uint32_t(nodes_.size());
    nodes_.push_back({parent, name, is_unit});
    places_.emplace(key, place);
    return place;
}
} // namespace nsdump
