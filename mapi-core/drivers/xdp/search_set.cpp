// SPDX-License-Identifier: MIT
// Searches of nodes -> automata, and their places in one map.
#include "drivers/xdp/search_set.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace mapi::drivers::xdp
{
namespace
{
using Text = SearchAutomaton::Text;

std::vector<Text> texts_of(const mapi_search &search, uint32_t bit)
{
    std::vector<Text> texts;
    for (uint32_t i = 0; i < search.text_count; ++i) {
        const mapi_search_text &text = search.texts[i];
        const uint64_t last_end = search.depth_bytes
                                      ? uint64_t{search.offset_bytes} + search.depth_bytes
                                      : std::numeric_limits<uint32_t>::max();
        texts.push_back({{reinterpret_cast<const char *>(text.bytes), text.count},
                         {.bit = bit,
                          .first_end = search.offset_bytes + text.count,
                          .last_end = uint32_t(last_end)}});
    }
    return texts;
}

// Equal for searches that find the same.
std::string key_of(const mapi_search &search)
{
    std::string key = std::to_string(search.offset_bytes) + " " +
                      std::to_string(search.depth_bytes) + " " +
                      std::to_string(search.ignores_case);
    for (uint32_t i = 0; i < search.text_count; ++i) {
        const mapi_search_text &text = search.texts[i];
        key += " " + std::to_string(text.count) + ":";
        key.append(reinterpret_cast<const char *>(text.bytes), text.count);
    }
    return key;
}

size_t rounded_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}
} // namespace

SearchSet::SearchSet(std::span<const mapi_offload_node> nodes)
{
    std::vector<Text> exact, folded;
    std::map<std::string, uint32_t> known;
    for (uint32_t node = 0; node < nodes.size(); ++node) {
        if (!nodes[node].is_taken || nodes[node].step.kind != MAPI_OFFLOAD_SEARCH)
            continue;
        const mapi_search &search = *nodes[node].step.search;
        const auto [entry, is_new] = known.try_emplace(key_of(search), distinct_);
        bits_[node] = entry->second;
        if (!is_new)
            continue;
        const std::vector<Text> its = texts_of(search, distinct_++);
        auto &all = search.ignores_case ? folded : exact;
        all.insert(all.end(), its.begin(), its.end());
    }
    if (!exact.empty())
        place(SearchAutomaton(exact, false));
    if (!folded.empty())
        place(SearchAutomaton(folded, true));
}

void SearchSet::place(SearchAutomaton &&automaton)
{
    const size_t classes = bytes_;
    const size_t outputs = classes + automaton.classes().size();
    const size_t table = outputs + rounded_up(automaton.outputs().size_bytes());
    // One row more than the table: the verifier does not know that a row's end is in the table.
    bytes_ = rounded_up(table + automaton.table().size_bytes() + sizeof(uint32_t) * 1024);
    automata_.push_back({std::move(automaton), classes, outputs, table});
}

void SearchSet::write(std::span<uint8_t> memory) const
{
    for (const Placed &placed : automata_) {
        const SearchAutomaton &automaton = placed.automaton;
        std::ranges::copy(automaton.classes(), &memory[placed.classes_byte]);
        memcpy(&memory[placed.outputs_byte], automaton.outputs().data(),
               automaton.outputs().size_bytes());
        memcpy(&memory[placed.table_byte], automaton.table().data(),
               automaton.table().size_bytes());
    }
}
} // namespace mapi::drivers::xdp
