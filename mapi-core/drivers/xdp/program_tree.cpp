// SPDX-License-Identifier: MIT
// Nodes -> their places, and the verdicts that functions of the engine need.
#include "drivers/xdp/program_tree.hpp"

#include <algorithm>

#include "drivers/xdp/node_kind.hpp"

namespace mapi::drivers::xdp
{
namespace
{
// An index behind a filter gets fewer packets, and its tables are as large.
constexpr size_t kFewestBehindFilter = 32;
} // namespace

ProgramTree::ProgramTree(std::span<mapi_offload_node> nodes, uint32_t all_bytes)
    : nodes_(nodes), place_of_(nodes.size(), kNone), filters_at_(nodes.size() + 1),
      searches_at_(nodes.size() + 1), hashes_at_(nodes.size() + 1), samples_at_(nodes.size() + 1),
      bytes_of_(nodes.size() + 1, 0), verdict_of_(nodes.size() + 1, kNone), all_bytes_(all_bytes)
{
    for (uint32_t i = 0; i < nodes.size(); ++i) {
        mapi_offload_node &node = nodes[i];
        const bool is_first = node.source == MAPI_OFFLOAD_ALL;
        if (!is_first && !nodes[node.source].is_taken)
            node.is_taken = 0;
        if (node.is_taken) {
            add(i, is_first ? 0 : place_of_[node.source]);
        } else if (is_first) {
            all_bytes_ = MAPI_OFFLOAD_WHOLE;
        } else {
            nodes[node.source].wants_packets = 1;
            nodes[node.source].wants_bytes = MAPI_OFFLOAD_WHOLE;
        }
    }
    choose_verdicts();
    compare_wanted();
    make_indexes();
    make_searches();
}

void ProgramTree::add(uint32_t node, uint32_t source)
{
    const uint32_t kind = nodes_[node].step.kind;
    place_of_[node] = selects(nodes_[node].step) ? ++last_place_ : source;
    if (kind == MAPI_OFFLOAD_FILTER)
        filters_at_[source].push_back(node);
    else if (kind == MAPI_OFFLOAD_SEARCH)
        searches_at_[source].nodes.push_back(node);
    else if (kind == MAPI_OFFLOAD_FLOW_HASH)
        hashes_at_[source].nodes.push_back(node);
    else if (kind == MAPI_OFFLOAD_SAMPLE)
        samples_at_[source].push_back(node);
    else if (kind == MAPI_OFFLOAD_LAST)
        last_of_.try_emplace(source, uint32_t(last_of_.size()));
}

void ProgramTree::choose_verdicts()
{
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].is_taken && nodes_[i].wants_packets)
            want(place_of_[i], nodes_[i].wants_bytes);
    }
    for (Searches &searches : searches_at_) {
        if (!searches.nodes.empty())
            searches.undecided = verdicts_++;
    }
    for (Hashes &hashes : hashes_at_) {
        if (hashes.nodes.empty())
            continue;
        hashes.undecided = verdicts_++;
        hash_words_ = kHashWords;
    }
}

void ProgramTree::want(uint32_t place, uint32_t bytes)
{
    if (bytes == 0 || bytes > kSnaplenMax)
        bytes = MAPI_OFFLOAD_WHOLE;
    uint32_t &verdict = verdict_of_[place];
    if (verdict == kNone)
        verdict = verdicts_++;
    bytes_of_[place] = std::max(bytes_of_[place], bytes);
    if (place == 0)
        all_bytes_ = std::max(all_bytes_, bytes);
}

void ProgramTree::compare_wanted()
{
    uint32_t same = all_bytes_;
    const auto compare = [&](uint32_t bytes) {
        if (bytes <= all_bytes_)
            return;
        wants_same_ &= same == all_bytes_ || same == bytes;
        same = bytes;
        wants_whole_ &= bytes > kSnaplenMax;
    };
    wants_whole_ = all_bytes_ == 0 || all_bytes_ > kSnaplenMax;
    for (uint32_t place = 0; place < bytes_of_.size(); ++place) {
        compare(bytes_of_[place]);
        if (searches_at_[place].undecided != kNone || hashes_at_[place].undecided != kNone)
            compare(MAPI_OFFLOAD_WHOLE);
    }
}

void ProgramTree::make_indexes()
{
    for (uint32_t place = 0; place < filters_at_.size(); ++place) {
        if (filters_at_[place].size() < (place == 0 ? FilterIndex::kFewest : kFewestBehindFilter))
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
    const auto is_empty = [](const Searches &searches) { return searches.nodes.empty(); };
    if (std::ranges::all_of(searches_at_, is_empty))
        return;
    searches_ = std::make_unique<const SearchSet>(nodes_);
    search_words_ = kFoundBits + searches_->bit_words();
    for (Searches &searches : searches_at_) {
        for (const uint32_t node : searches.nodes)
            searches.by_bit[searches_->bit_of(node)].push_back(node);
    }
}
} // namespace mapi::drivers::xdp
