// SPDX-License-Identifier: MIT
// The nodes of a program as a tree, and what the kernel keeps for each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <mapi/driver.h>

#include "drivers/xdp/filter_index.hpp"
#include "drivers/xdp/layout.hpp"

namespace mapi::drivers::xdp
{
// A place in the tree is 0 for all packets, and i + 1 for those that node i passes.  Nodes that
// pass all packets need nothing in the kernel: they have the place of their source.
class ProgramTree
{
public:
    static constexpr uint32_t kNone = ~0u;

    // Nodes with is_taken, whose sources are taken.  Sets wants_packets of sources of the others.
    ProgramTree(std::span<mapi_offload_node> nodes, bool wants_all);

    std::span<const mapi_offload_node> nodes() const { return nodes_; }
    // Filters that get the packets of a place, in order.
    const std::vector<uint32_t> &filters_at(uint32_t place) const { return filters_at_[place]; }
    // Finds those of them that may accept a packet; null if there are few.
    const FilterIndex *index_at(uint32_t place) const
    {
        const auto index = indexes_.find(place);
        return index == indexes_.end() ? nullptr : index->second.get();
    }
    const std::map<uint32_t, std::unique_ptr<const FilterIndex>> &indexes() const
    {
        return indexes_;
    }
    // The number of an index's first table; all tables are in one map.
    uint32_t first_table(uint32_t place) const { return first_table_.at(place); }
    uint32_t tables() const { return tables_; }
    uint32_t place_of(uint32_t node) const { return place_of_[node]; }
    bool wants_all() const { return wants_all_; }
    bool wants_any() const { return wants_all_ || verdicts_ > 0; }

    // Bit of the verdict on the packets of a place, or kNone.
    uint32_t verdict_of(uint32_t place) const { return verdict_of_[place]; }
    uint32_t verdict_words() const { return (verdicts_ + 63) / 64; }
    // The words of a place's counts: packets, then bytes.
    uint32_t count_word(uint32_t place) const
    {
        return place == 0 ? uint32_t(kAllPackets) : kVerdicts + verdict_words() + 2 * (place - 1);
    }
    // The first word for the groups that an index has found for the current packet.
    uint32_t group_word(uint32_t place) const
    {
        return count_word(uint32_t(nodes_.size()) + 1) + first_group_word_.at(place);
    }
    uint32_t count_words() const
    {
        return (count_word(uint32_t(nodes_.size()) + 1) + group_words_ + 7) / 8 * 8;
    }

private:
    void make_indexes();

    std::span<mapi_offload_node> nodes_;
    std::vector<uint32_t> place_of_;                                 // by node
    std::vector<std::vector<uint32_t>> filters_at_;                  // by place
    std::vector<uint32_t> verdict_of_;                               // by place
    std::map<uint32_t, std::unique_ptr<const FilterIndex>> indexes_; // by place
    std::map<uint32_t, uint32_t> first_table_;                       // likewise
    std::map<uint32_t, uint32_t> first_group_word_;                  // likewise
    uint32_t tables_ = 0;
    uint32_t group_words_ = 0;
    uint32_t verdicts_ = 0;
    bool wants_all_;
};
} // namespace mapi::drivers::xdp
