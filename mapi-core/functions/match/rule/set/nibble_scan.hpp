// SPDX-License-Identifier: MIT
// Nibble scan: up to some dozens of literals, also short ones -> the places of a text where one may
// be, 32 or 64 at a time.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mapi::match::rule
{
// Whether the literal may begin there.  Case is ignored: by setting the bit that
// distinguishes it, also in other bytes.
bool may_be_at(std::span<const uint8_t> text, size_t begin, std::string_view literal);

// Literals are in eight buckets.  For each of four successive bytes, two tables of 16 entries give
// the buckets with a literal that has such a low and such a high half of a byte there: the buckets
// that all eight entries have in common are candidates at that place.
class NibbleScan
{
public:
    struct Literal {
        std::string_view text; // at least two bytes
        bool ignores_case;
        uint32_t id;
    };

    enum class Width : uint8_t { kNone = 0, kAvx2 = 32, kAvx512 = 64 }; // bytes at a time
    static Width widest();
    static bool is_supported() { return widest() != Width::kNone; }

    NibbleScan() = default;
    // `width` is not above widest().
    explicit NibbleScan(std::vector<Literal> literals, Width width = widest());

    bool is_empty() const { return literals_.empty(); }
    uint64_t memory_bytes() const;

    // Calls found(id) for each literal that is in the text, case ignored, once for each place.
    template <class Found> void find(std::span<const uint8_t> text, Found &&found) const
    {
        Block block;
        for (size_t at = 0; (at = next(text, at, block)) < text.size(); at += size_t(width_)) {
            for (uint64_t places = block.places; places != 0; places &= places - 1) {
                const auto place = uint32_t(std::countr_zero(places));
                verify(text, at + place, block.buckets[place], found);
            }
        }
    }

private:
    static constexpr size_t kWindowBytes = 4;
    static constexpr size_t kMostBlockBytes = 64;
    static constexpr size_t kBuckets = 8;
    using Nibbles = std::array<uint8_t, 16>; // by value: a set of buckets
    struct Block {
        uint64_t places; // with candidates
        std::array<uint8_t, kMostBlockBytes> buckets;
    };

    struct Placed {
        std::string text;
        uint32_t offset; // of the window in the text
        uint32_t id;
    };

    void add(const Placed &literal, bool ignores_case, size_t bucket);
    // The next block from `at` on with candidates; the text's length if there is none.
    size_t next(std::span<const uint8_t> text, size_t at, Block &block) const
    {
        return width_ == Width::kAvx512 ? next_of_64(text, at, block) : next_of_32(text, at, block);
    }
    size_t next_of_32(std::span<const uint8_t> text, size_t at, Block &block) const;
    size_t next_of_64(std::span<const uint8_t> text, size_t at, Block &block) const;

    template <class Found>
    void verify(std::span<const uint8_t> text, size_t window, uint32_t buckets, Found &&found) const
    {
        for (; buckets != 0; buckets &= buckets - 1) {
            const auto bucket = size_t(std::countr_zero(buckets));
            for (uint32_t i = begins_[bucket]; i < begins_[bucket + 1]; ++i) {
                const Placed &literal = literals_[i];
                if (window >= literal.offset &&
                    may_be_at(text, window - literal.offset, literal.text))
                    found(literal.id);
            }
        }
    }

    Width width_ = Width::kNone;
    std::array<Nibbles, kWindowBytes> low_ = {}, high_ = {};
    std::array<uint32_t, kBuckets + 1> begins_ = {}; // in literals_
    std::vector<Placed> literals_;
};

// Where the `bytes` successive bytes of the text begin that are least common in packets.
size_t least_common(std::string_view text, size_t bytes);
} // namespace mapi::match::rule
