// SPDX-License-Identifier: MIT
// Nodes -> their places, and the verdicts that functions of the engine need.
#include "drivers/xdp/program_tree.hpp"

namespace mapi::drivers::xdp
{
namespace
{
constexpr size_t kFewestInIndex = 8;
} // namespace

ProgramTree::ProgramTree(std::span<mapi_offload_node> nodes, bool wants_all)
    : nodes_(nodes), place_of_(nodes.size(), kNone), filters_at_(nodes.size() + 1),
      searches_at_(nodes.size() + 1), verdict_of_(nodes.size() + 1, kNone), wants_all_(wants_all)
{
    for (uint32_t i = 0; i < nodes.size(); ++i) {
        mapi_offload_node &node = nodes[i];
        const bool is_first = node.source == MAPI_OFFLOAD_ALL;
        if (!is_first && !nodes[node.source].is_taken)
            node.is_taken = 0;
        if (node.is_taken)
            add(i, is_first ? 0 : place_of_[node.source]);
        else if (is_first)
            wants_all_ = true;
        else
            nodes[node.source].wants_packets = 1;
    }
    choose_verdicts();
    make_indexes();
    make_searches();
}

void ProgramTree::add(uint32_t node, uint32_t source)
{
    const uint32_t kind = nodes_[node].step.kind;
    place_of_[node] = kind == MAPI_OFFLOAD_COUNT ? source : ++last_place_;
    if (kind == MAPI_OFFLOAD_FILTER)
        filters_at_[source].push_back(node);
    else if (kind == MAPI_OFFLOAD_SEARCH)
        searches_at_[source].nodes.push_back(node);
}

void ProgramTree::choose_verdicts()
{
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].is_taken || !nodes_[i].wants_packets)
            continue;
        uint32_t &verdict = verdict_of_[place_of_[i]];
        if (verdict == kNone)
            verdict = verdicts_++;
        wants_all_ |= place_of_[i] == 0;
    }
    for (Searches &searches : searches_at_) {
        if (!searches.nodes.empty())
            searches.undecided = verdicts_++;
    }
}

void ProgramTree::make_indexes()
{
    for (uint32_t place = 0; place < filters_at_.size(); ++place) {
        if (filters_at_[place].size() < kFewestInIndex)
            continue;
        auto index = FilterIndex::make(nodes_, filters_at_[place]);
        if (!index)
            continue;
        first_table_[place] = tables_;
        tables_ += uint32_t(index->fields());
        first_group_word_[place] = group_words_;
        group_words_ += index->group_words();
        indexes_[place] = std::move(index);
    }
}

void ProgramTree::make_searches()
{
    std::vector<uint32_t> all;
    for (Searches &searches : searches_at_) {
        searches.first_bit = uint32_t(all.size());
        all.insert(all.end(), searches.nodes.begin(), searches.nodes.end());
    }
    if (all.empty())
        return;
    searches_ = std::make_unique<const SearchSet>(nodes_, all);
    search_words_ = kFoundBits + searches_->bit_words();
}
} // namespace mapi::drivers::xdp
