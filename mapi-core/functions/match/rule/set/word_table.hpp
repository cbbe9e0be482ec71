// SPDX-License-Identifier: MIT
// Word table: words of longer literals -> the places of a text where one may be; only some places
// of the text are looked at, 16 at a time.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "match/rule/set/nibble_scan.hpp"

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

    // Whether this processor looks up many words at once.
    static bool can_have_blocks();

    WordTable() = default;
    // `has_blocks` only if this processor can.
    explicit WordTable(const std::vector<Literal> &literals, bool has_blocks = can_have_blocks());

    bool is_empty() const { return literals_.empty(); }
    uint64_t memory_bytes() const;

    // Calls found(id), more than once if there are several places.
    template <class Found> void find(std::span<const uint8_t> text, Found &&found) const
    {
        if (text.size() < kWordBytes)
            return;
        const size_t stride = stride_, end = text.size() - kWordBytes + 1;
        size_t at = 0;
        if (has_blocks_) {
            for (; at + kBlockBytes <= text.size(); at += kBlockWords * stride) {
                uint32_t places = wanted_in_block(text.data() + at);
                for (; places != 0; places &= places - 1) {
                    const size_t place = at + size_t(std::countr_zero(places)) * stride;
                    verify(text, place, load(text.data() + place), found);
                }
            }
        }
        const uint32_t shift = shift_;
        const uint32_t *const is_wanted = is_wanted_.data();
        for (; at < end; at += stride) {
            const uint32_t word = load(text.data() + at);
            const uint32_t hash = word * kHash >> shift;
            if (is_wanted[hash / kSetBits] >> hash % kSetBits & 1) [[unlikely]]
                verify(text, at, word, found);
        }
    }

private:
    static constexpr uint32_t kHash = 0x9e3779b1, kSlotHash = 0x85ebca6b;

    static constexpr uint32_t kSetBits = 32; // of an element of is_wanted_
    // Words that are looked up at once, and the bytes that are read for them.
    static constexpr size_t kBlockWords = 16, kBlockBytes = 128;

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

    // A bit for each word of the block of this text, in their order.
    uint32_t wanted_in_block(const uint8_t *text) const;

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
    bool has_blocks_ = false;
    // The bytes of the words of a block.
    alignas(64) std::array<uint8_t, kBlockWords *kWordBytes> order_ = {};
    uint32_t shift_ = 0, slot_shift_ = 0;
    std::vector<uint32_t> is_wanted_; // a bit for each hash: whether a literal has such a word
    std::vector<uint32_t> slots_;     // where the places of each slot begin
    std::vector<Place> places_;       // by slot
    std::vector<std::string> literals_;
    std::vector<uint32_t> ids_;
};
} // namespace mapi::match::rule
