// SPDX-License-Identifier: MIT
// Word table, with AVX-512 or without.
#include "match/rule/set/word_table.hpp"

#include <algorithm>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace mapi::match::rule
{
namespace
{
constexpr uint32_t kHashesOfPlace = 128; // of the table: one word of a text in 128 is looked at
constexpr uint32_t kFewestHashes = 1024;
constexpr uint32_t kMostHashes = 1 << 17; // 16 KiB: half of a first cache
constexpr uint32_t kFewestSlots = 16;

uint32_t shift_for(uint32_t count, uint32_t fewest)
{
    return 32 - uint32_t(std::bit_width(std::bit_ceil(std::max(count, fewest)) - 1));
}
} // namespace

WordTable::WordTable(const std::vector<Literal> &literals, bool has_blocks)
    : has_blocks_(has_blocks)
{
    if (literals.empty())
        return;
    size_t shortest = SIZE_MAX;
    for (const Literal &literal : literals)
        shortest = std::min(shortest, literal.text.size());
    stride_ = uint32_t(std::min<size_t>(shortest - kWordBytes + 1, kMostStride));
    for (size_t i = 0; i < order_.size(); ++i)
        order_[i] = uint8_t(i / kWordBytes * stride_ + i % kWordBytes);
    for (const Literal &literal : literals) {
        const size_t begin = least_common(literal.text, stride_ + kWordBytes - 1);
        for (size_t i = begin; i < begin + stride_; ++i) {
            const auto *at = reinterpret_cast<const uint8_t *>(literal.text.data()) + i;
            places_.push_back({load(at), uint32_t(literals_.size()), uint32_t(i)});
        }
        literals_.emplace_back(literal.text);
        ids_.push_back(literal.id);
    }
    const auto count = uint32_t(places_.size());
    shift_ = shift_for(std::min(count * kHashesOfPlace, kMostHashes), kFewestHashes);
    slot_shift_ = shift_for(count, kFewestSlots);
    is_wanted_.resize((size_t{1} << (32 - shift_)) / kSetBits);
    slots_.resize((size_t{1} << (32 - slot_shift_)) + 1);
    const auto slot_of = [this](const Place &place) {
        return place.word * kSlotHash >> slot_shift_;
    };
    std::stable_sort(places_.begin(), places_.end(),
                     [&](const Place &a, const Place &b) { return slot_of(a) < slot_of(b); });
    for (const Place &place : places_) {
        const uint32_t hash = place.word * kHash >> shift_;
        is_wanted_[hash / kSetBits] |= uint32_t{1} << hash % kSetBits;
        ++slots_[slot_of(place) + 1];
    }
    for (size_t i = 1; i < slots_.size(); ++i)
        slots_[i] += slots_[i - 1];
}

uint64_t WordTable::memory_bytes() const
{
    uint64_t bytes = (is_wanted_.capacity() + slots_.capacity()) * sizeof(uint32_t) +
                     places_.capacity() * sizeof(Place);
    for (const std::string &literal : literals_)
        bytes += sizeof(std::string) + literal.capacity() + sizeof(uint32_t);
    return bytes;
}

bool WordTable::can_have_blocks()
{
#ifdef __x86_64__
    static const bool can =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vbmi");
    return can;
#else
    return false;
#endif
}

#ifdef __x86_64__
// All functions are masked, since gcc 12 warns of its own header otherwise (GCC bug 105593).
[[gnu::target("avx512f,avx512vbmi")]] uint32_t WordTable::wanted_in_block(const uint8_t *text) const
{
    constexpr __mmask16 kAll = 0xffff;
    const __m512i order = _mm512_loadu_si512(order_.data());
    const __m512i low = _mm512_loadu_si512(text), high = _mm512_loadu_si512(text + sizeof(low));
    const __m512i words =
        _mm512_or_si512(_mm512_maskz_permutex2var_epi8(~uint64_t{0}, low, order, high),
                        _mm512_set1_epi32(int(kCaseBits)));
    const __m512i product = _mm512_maskz_mullo_epi32(kAll, words, _mm512_set1_epi32(int(kHash)));
    const __m512i hash = _mm512_maskz_srl_epi32(kAll, product, _mm_cvtsi32_si128(int(shift_)));
    const __m512i sets =
        _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), kAll,
                                    _mm512_maskz_srli_epi32(kAll, hash, std::countr_zero(kSetBits)),
                                    is_wanted_.data(), sizeof(uint32_t));
    // the lower five bits: what rotates a word is counted modulo 32
    const __m512i bit = _mm512_maskz_rolv_epi32(kAll, _mm512_set1_epi32(1), hash);
    return _mm512_test_epi32_mask(sets, bit);
}
#else
uint32_t WordTable::wanted_in_block(const uint8_t *) const
{
    return 0; // can_have_blocks() is false
}
#endif
} // namespace mapi::match::rule
