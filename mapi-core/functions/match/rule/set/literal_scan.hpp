// SPDX-License-Identifier: MIT
// Literal scan: some dozens of strings -> those that a text may contain, in one pass.  It is ready
// in microseconds, unlike a database of Vectorscan.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "match/rule/set/nibble_scan.hpp"
#include "match/rule/set/requirement.hpp"
#include "match/rule/set/word_table.hpp"
#include "match/text/literal_search.hpp"

namespace mapi::match::rule
{
class LiteralScan
{
public:
    struct Wanted {
        Requirement requirement; // with a text
        uint32_t id;
    };

    explicit LiteralScan(const std::vector<Wanted> &wanted);

    uint64_t memory_bytes() const;

    // Calls found(id) for each whose requirement the text may meet, at least once.
    template <class Found> void find(std::span<const uint8_t> text, Found &&found) const
    {
        for (const FixedWords &words : fixed_)
            words.find(text, found);
        for (const Single &single : singles_) {
            if (has_literal_(text.data(), text.size(), single.text))
                found(single.id);
        }
        if (!nibbles_.is_empty())
            nibbles_.find(text, found);
        for (const Single &single : folded_singles_) {
            if (has_folded_literal(text.data(), text.size(), single.text))
                found(single.id);
        }
        if (!short_.is_empty())
            short_.find(text, found);
        if (!long_.is_empty())
            long_.find(text, found);
    }

private:
    // Literals at one offset that begin with a word of the same width.
    struct FixedWords {
        uint32_t offset = 0;
        uint32_t mask = 0;                                   // of the bytes that the word has
        uint32_t bytes = 0;                                  // of the word
        uint64_t seen = 0;                                   // a bit for each word's hash
        std::vector<std::pair<uint32_t, uint32_t>> ids = {}; // word, id

        static uint32_t bit_of(uint32_t word) { return word * 0x9e3779b1u >> 26; }

        template <class Found> void find(std::span<const uint8_t> text, Found &&found) const
        {
            if (text.size() < offset + bytes)
                return;
            uint32_t word = 0;
            if (text.size() >= offset + sizeof(word))
                std::memcpy(&word, text.data() + offset, sizeof(word));
            else
                std::memcpy(&word, text.data() + offset, bytes);
            word = (word | WordTable::kCaseBits) & mask;
            if (!(seen >> bit_of(word) & 1)) [[likely]]
                return;
            for (const auto &[wanted, id] : ids) {
                if (wanted == word)
                    found(id);
            }
        }
    };
    // Searched on its own.
    struct Single {
        std::string text;
        uint32_t id;
    };

    void add_fixed(const Wanted &wanted);
    void add_single(const Wanted &wanted);
    void add_nibbles(const std::vector<Wanted> &wanted);
    void add_words(const std::vector<Wanted> &wanted, WordTable &table);

    std::vector<FixedWords> fixed_;
    std::vector<Single> singles_, folded_singles_;
    NibbleScan nibbles_;
    WordTable short_, long_;
    LiteralSearch has_literal_ = best_literal_search();
};
} // namespace mapi::match::rule
