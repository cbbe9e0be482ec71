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
#include "drivers/xdp/search_set.hpp"

namespace mapi::drivers::xdp
{
// A place in the tree is 0 for all packets, and another number for those that a node passes.  Nodes
// that pass all packets need nothing in the kernel: they have the place of their source.
class ProgramTree
{
public:
    static constexpr uint32_t kNone = ~0u;

    // Nodes with is_taken, whose sources are taken.  Sets wants_packets of sources of the others.
    // Throws std::length_error if the texts of searches are too many.
    // all_bytes: as of prepare() in driver.h.
    ProgramTree(std::span<mapi_offload_node> nodes, uint32_t all_bytes);

    std::span<const mapi_offload_node> nodes() const { return nodes_; }
    // Filters that get the packets of a place, in order.
    const std::vector<uint32_t> &filters_at(uint32_t place) const { return filters_at_[place]; }
    const std::vector<uint32_t> &samples_at(uint32_t place) const { return samples_at_[place]; }
    // Finds those of the filters that may accept a packet; null if there are few.
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
    uint32_t last_place() const { return last_place_; }

    // Searches that get the packets of a place.
    struct Searches {
        std::vector<uint32_t> nodes = {};
        std::map<uint32_t, std::vector<uint32_t>> by_bit = {}; // the same, by SearchSet::bit_of()
        uint32_t undecided = kNone; // bit of the verdict that the search has ended early
    };
    const Searches &searches_at(uint32_t place) const { return searches_at_[place]; }
    // Nodes that select packets of a place by the hash of their flow.
    struct Hashes {
        std::vector<uint32_t> nodes = {};
        uint32_t undecided = kNone; // bit of the verdict that the hash is not known
    };
    const Hashes &hashes_at(uint32_t place) const { return hashes_at_[place]; }
    bool has_hashes() const { return hash_words_ > 0; }
    // Null if there are none.
    const SearchSet *searches() const { return searches_.get(); }
    bool wants_all() const { return all_bytes_ > 0; }
    bool wants_any() const { return wants_all() || verdicts_ > 0; }
    // Bytes that the engine needs of all packets, and of those of a place with a verdict;
    // MAPI_OFFLOAD_WHOLE: all, as of packets on which a search could not decide.
    uint32_t all_bytes() const { return all_bytes_; }
    uint32_t bytes_of(uint32_t place) const { return bytes_of_[place]; }
    // Whether places that need more than all packets need the same; whether no packet that is
    // wanted is cut.
    bool wants_same() const { return wants_same_; }
    bool wants_whole() const { return wants_whole_; }

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
        return count_word(last_place_ + 1) + first_group_word_.at(place);
    }
    // The first of the words of a search (enum SearchWord).
    uint32_t search_word() const { return count_word(last_place_ + 1) + group_words_; }
    // The time of the current packet, then of each place with a node of MAPI_OFFLOAD_LAST the time
    // and wire length of its last packet.
    bool has_last() const { return !last_of_.empty(); }
    bool has_last(uint32_t place) const { return last_of_.contains(place); }
    // The first of the words of a flow's hash (enum HashWord).
    uint32_t hash_word() const { return search_word() + search_words_; }
    uint32_t time_word() const { return hash_word() + hash_words_; }
    uint32_t last_word(uint32_t place) const { return time_word() + 1 + 2 * last_of_.at(place); }
    uint32_t count_words() const
    {
        const uint32_t last_words = has_last() ? 1 + 2 * uint32_t(last_of_.size()) : 0;
        return (time_word() + last_words + 7) / 8 * 8;
    }

private:
    void add(uint32_t node, uint32_t source);
    void choose_verdicts();
    void compare_wanted();
    void want(uint32_t place, uint32_t bytes);
    void make_indexes();
    void make_searches();

    std::span<mapi_offload_node> nodes_;
    std::vector<uint32_t> place_of_; // by node
    uint32_t last_place_ = 0;
    std::vector<std::vector<uint32_t>> filters_at_;                  // by place
    std::vector<Searches> searches_at_;                              // by place
    std::vector<Hashes> hashes_at_;                                  // by place
    std::vector<std::vector<uint32_t>> samples_at_;                  // by place
    std::map<uint32_t, uint32_t> last_of_;                           // by place
    std::vector<uint32_t> bytes_of_;                                 // by place
    std::vector<uint32_t> verdict_of_;                               // by place
    std::map<uint32_t, std::unique_ptr<const FilterIndex>> indexes_; // by place
    std::map<uint32_t, uint32_t> first_table_;                       // likewise
    std::map<uint32_t, uint32_t> first_group_word_;                  // likewise
    uint32_t tables_ = 0;
    uint32_t group_words_ = 0;
    std::unique_ptr<const SearchSet> searches_;
    uint32_t search_words_ = 0;
    uint32_t hash_words_ = 0;
    uint32_t verdicts_ = 0;
    uint32_t all_bytes_;
    bool wants_same_ = true;
    bool wants_whole_ = true;
};
} // namespace mapi::drivers::xdp
