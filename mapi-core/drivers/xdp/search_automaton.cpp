// SPDX-License-Identifier: MIT
// A trie of texts -> an automaton without failures: each state has a next one for each class.
#include "drivers/xdp/search_automaton.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <stdexcept>

#include "match/text/folded_text.hpp"

namespace mapi::drivers::xdp
{
namespace
{
constexpr uint32_t kOutputWords = 2; // of a row
} // namespace

SearchAutomaton::SearchAutomaton(std::span<const Text> texts, bool ignores_case)
{
    choose_classes(texts, ignores_case);
    row_words_ = std::bit_ceil(class_count_ + kOutputWords);
    std::vector<std::vector<Output>> outputs(1);
    add_state();
    for (const Text &text : texts) {
        const uint32_t state = add_path(text.bytes);
        outputs.resize(states());
        outputs[state].push_back(text.output);
    }
    complete(outputs);
    write_outputs(outputs);
    table_.resize(std::bit_ceil(table_.size()));
}

void SearchAutomaton::choose_classes(std::span<const Text> texts, bool ignores_case)
{
    std::array<bool, 256> is_used = {};
    for (const Text &text : texts) {
        for (const char byte : text.bytes)
            is_used[uint8_t(byte)] = true;
    }
    const bool has_others = !std::ranges::all_of(is_used, std::identity());
    class_count_ = has_others; // class 0
    for (size_t byte = 0; byte < classes_.size(); ++byte) {
        if (is_used[byte])
            classes_[byte] = uint8_t(class_count_++);
    }
    for (size_t byte = 0; ignores_case && byte < classes_.size(); ++byte)
        classes_[byte] = classes_[match::folded(uint8_t(byte))];
}

uint32_t SearchAutomaton::add_state()
{
    if (table_.size() + row_words_ > kTableWordsMax)
        throw std::length_error("the automaton of the texts is too large");
    table_.resize(table_.size() + row_words_);
    return states() - 1;
}

uint32_t SearchAutomaton::add_path(const std::string &bytes)
{
    uint32_t state = 0;
    for (const char byte : bytes) {
        const size_t at = size_t{state} * row_words_ + classes_[uint8_t(byte)];
        if (table_[at] == 0) {
            const uint32_t added = add_state(); // moves the table
            table_[at] = added;
        }
        state = table_[at];
    }
    return state;
}

// Breadth first: the state for the longest proper end of what a state has seen comes before it.
void SearchAutomaton::complete(std::vector<std::vector<Output>> &outputs)
{
    std::vector<uint32_t> shorter(states(), 0), order = {0};
    order.reserve(states());
    size_t count = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        const uint32_t state = order[i];
        uint32_t *const row = &table_[size_t{state} * row_words_];
        const uint32_t *const other = &table_[size_t{shorter[state]} * row_words_];
        for (uint32_t its = 0; its < class_count_; ++its) {
            const uint32_t next = state == 0 ? 0 : other[its];
            if (row[its] == 0) {
                row[its] = next;
                continue;
            }
            shorter[row[its]] = next;
            order.push_back(row[its]);
        }
        if (state != 0)
            outputs[state].insert(outputs[state].end(), outputs[shorter[state]].begin(),
                                  outputs[shorter[state]].end());
        count += outputs[state].size();
        if (count > kOutputsMax)
            throw std::length_error("too many of the texts end with others");
    }
}

// Numbers of states become places of rows.
void SearchAutomaton::write_outputs(const std::vector<std::vector<Output>> &outputs)
{
    for (uint32_t state = 0; state < outputs.size(); ++state) {
        uint32_t *const row = &table_[size_t{state} * row_words_];
        for (uint32_t its = 0; its < class_count_; ++its)
            row[its] = row[its] * row_words_ | (outputs[row[its]].empty() ? 0 : kFound);
        row[class_count_] = uint32_t(outputs_.size());
        row[class_count_ + 1] = uint32_t(outputs[state].size());
        outputs_.insert(outputs_.end(), outputs[state].begin(), outputs[state].end());
    }
    outputs_.resize(std::bit_ceil(outputs_.size()));
}
} // namespace mapi::drivers::xdp
