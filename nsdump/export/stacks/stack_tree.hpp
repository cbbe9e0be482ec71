// SPDX-License-Identifier: MIT
// stacks: slices with the frames around them -> a tree of distinct stacks with sums, of bounded
// size.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "decode/names.hpp"

namespace nsdump
{
struct StackNode {
    uint32_t parent = 0;
    NameId name = 0;
    bool is_unit = false;
    uint64_t slices = 0;
    double self = 0; // without the slices inside
    double raw = 0;
};

class StackTree
{
public:
    // About 30 MB.  A program has some hundred stacks; a hostile trace may have one for each slice.
    static constexpr size_t kMaxStacks = 1 << 18;
    static constexpr uint32_t kRoot = 0, kOther = 1; // places in nodes()

    explicit StackTree(size_t max_stacks = kMaxStacks);

    // The place of the frame with this name inside that of `parent`.  kOther once the tree is full,
    // for new stacks and what is inside them.
    uint32_t inside(uint32_t parent, NameId name, bool is_unit = false);
    void add(uint32_t place, double self, double raw)
    {
        StackNode &node = nodes_[place];
        ++node.slices;
        node.self += self;
        node.raw += raw;
    }
    // Parents before the nodes inside them.
    const std::vector<StackNode> &nodes() const { return nodes_; }

private:
    size_t max_stacks_;
    std::vector<StackNode> nodes_;
    std::unordered_map<uint64_t, uint32_t> places_; // by parent, name and is_unit
};
} // namespace nsdump
