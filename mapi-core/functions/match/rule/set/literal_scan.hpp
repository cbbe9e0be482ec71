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
#include "match/text/literal_search.hpp"

namespace mapi::match::rule
{
// Words of four bytes of the text, at every `stride`-th place, are looked up in a table of the
// words of the literals: a literal of stride + 3 bytes has one of `stride` successive words at such
// a place.  Case is ignored by setting the bit that distinguishes it, also in other bytes: what is
// found is a candidate.
class WordTable
{
public:
    static constexpr uint32_t kWordBytes = 4;
    static constexpr uint32_t kMostStride = 8;
    static constexpr uint32_t kCaseBits = 0x20202020;

    struct Literal {
        std::string_view text; // at least four bytes
        uint32_t id;
    };

    WordTable() = default;
    explicit WordTable(const std::vector<Literal> &literals);

    bool is_empty() const { return literals_.empty(); }
    uint64_t memory_bytes() const;

    // Calls found(id), more than once if there are several places.
    template <class Found> void find(std::span<const uint8_t> text, Found &&found) const
    {
        if (text.size() < kWordBytes)
            return;
        const size_t stride = stride_, end = text.size() - kWordBytes + 1;
        const uint32_t shift = shift_;
        const uint8_t *const is_wanted = is_wanted_.data();
        for (size_t at = 0; at < end; at += stride) {
            const uint32_t word = load(text.data() + at);
            if (is_wanted[word * kHash >> shift]) [[unlikely]]
                verify(text, at, word, found);
        }
    }

private:
    static constexpr uint32_t kHash = 0x9e3779b1, kSlotHash = 0x85ebca6b;

    struct Place {
        uint32_t word;
        uint32_t literal;
        uint32_t offset; // of the word in the literal
    };

    static uint32_t load(const uint8_t *at)
    {
        uint32_t word;
        std::memcpy(&word, at, sizeof(word));
        return word | kCaseBits;
    }

    template <class Found>
    void verify(std::span<const uint8_t> text, size_t at, uint32_t word, Found &&found) const
    {
        const size_t slot = word * kSlotHash >> slot_shift_;
        for (uint32_t i = slots_[slot]; i < slots_[slot + 1]; ++i) {
            const Place &place = places_[i];
            if (place.word == word && at >= place.offset &&
                may_be_at(text, at - place.offset, literals_[place.literal]))
                found(ids_[place.literal]);
        }
    }

    uint32_t stride_ = 1;
    uint32_t shift_ = 0, slot_shift_ = 0;
    std::vector<uint8_t> is_wanted_; // by hash: whether a literal has such a word
    std::vector<uint32_t> slots_;    // where the places of each slot begin
    std::vector<Place> places_;      // by slot
    std::vector<std::string> literals_;
    std::vector<uint32_t> ids_;
};

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
