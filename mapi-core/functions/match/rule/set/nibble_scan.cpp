// SPDX-License-Identifier: MIT
// Nibble scan, with AVX2 or AVX-512.
#include "match/rule/set/nibble_scan.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace mapi::match::rule
{
namespace
{
// Common bytes make bad windows: they are looked at more often.
uint32_t commonness_of(uint8_t byte)
{
    if (byte == 0 || byte == 0xff || byte == ' ')
        return 8;
    if (byte == 0x90 || byte == 'A')
        return 6;
    if (std::string_view("etaoinsr/").find(char(byte | 0x20)) != std::string_view::npos)
        return 4;
    return byte >= 0x20 && byte < 0x7f ? 2 : 1;
}
} // namespace

size_t least_common(std::string_view text, size_t bytes)
{
    size_t best = 0;
    uint32_t least = UINT32_MAX;
    for (size_t begin = 0; begin + bytes <= text.size(); ++begin) {
        uint32_t sum = 0;
        for (const char byte : text.substr(begin, bytes))
            sum += commonness_of(uint8_t(byte));
        if (sum < least) {
            least = sum;
            best = begin;
        }
    }
    return best;
}

bool may_be_at(std::span<const uint8_t> text, size_t begin, std::string_view literal)
{
    return text.size() - begin >= literal.size() &&
           std::equal(literal.begin(), literal.end(), text.data() + begin,
                      [](char a, uint8_t b) { return (uint8_t(a) | 0x20) == (b | 0x20); });
}

NibbleScan::Width NibbleScan::widest()
{
#ifdef __x86_64__
    static const Width width = __builtin_cpu_supports("avx512bw") ? Width::kAvx512
                               : __builtin_cpu_supports("avx2")   ? Width::kAvx2
                                                                  : Width::kNone;
    return width;
#else
    return Width::kNone;
#endif
}

// Similar windows share a bucket, so that its tables stay sparse.
NibbleScan::NibbleScan(std::vector<Literal> literals, Width width) : width_(width)
{
    const auto window_of = [](const Literal &literal) {
        const size_t bytes = std::min(literal.text.size(), kWindowBytes);
        return literal.text.substr(least_common(literal.text, bytes), bytes);
    };
    std::stable_sort(literals.begin(), literals.end(), [&](const Literal &a, const Literal &b) {
        return window_of(a) < window_of(b);
    });
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
        const size_t end = literals.size() * (bucket + 1) / kBuckets;
        for (size_t i = literals_.size(); i < end; ++i) {
            const std::string_view text = literals[i].text;
            const size_t bytes = std::min(text.size(), kWindowBytes);
            literals_.push_back(
                {std::string(text), uint32_t(least_common(text, bytes)), literals[i].id});
            add(literals_.back(), literals[i].ignores_case, bucket);
        }
        begins_[bucket + 1] = uint32_t(end);
    }
}

void NibbleScan::add(const Placed &literal, bool ignores_case, size_t bucket)
{
    const auto bit = uint8_t(1u << bucket);
    for (size_t i = 0; i < kWindowBytes; ++i) {
        if (literal.offset + i >= literal.text.size()) { // a short literal: any byte
            for (size_t nibble = 0; nibble < low_[i].size(); ++nibble) {
                low_[i][nibble] |= bit;
                high_[i][nibble] |= bit;
            }
            continue;
        }
        const auto byte = uint8_t(literal.text[literal.offset + i]);
        low_[i][byte & 0xf] |= bit;
        high_[i][byte >> 4] |= bit;
        if (ignores_case && std::isalpha(byte))
            high_[i][(byte ^ 0x20) >> 4] |= bit;
    }
}

uint64_t NibbleScan::memory_bytes() const
{
    uint64_t bytes = sizeof(*this);
    for (const Placed &literal : literals_)
        bytes += sizeof(literal) + literal.text.capacity();
    return bytes;
}

#ifdef __x86_64__
namespace
{
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i both_lanes(const uint8_t *table)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(table)));
}

// A bit for each byte of a text of `bytes` bytes from place `begin` on.
inline uint64_t first_bits(size_t bytes, size_t begin)
{
    const size_t count = bytes - std::min(bytes, begin);
    return count < 64 ? (uint64_t{1} << count) - 1 : ~uint64_t{0};
}

// Masked, since gcc 12 warns of its own header otherwise (GCC bug 105593).
[[gnu::target("avx512bw"), gnu::always_inline]] inline __m512i all_lanes(const uint8_t *table)
{
    constexpr __mmask16 kAll = 0xffff;
    return _mm512_maskz_broadcast_i32x4(kAll,
                                        _mm_loadu_si128(reinterpret_cast<const __m128i *>(table)));
}
} // namespace

// The end of the text is searched in a copy, so that no byte beyond it is read.
[[gnu::target("avx2")]] size_t NibbleScan::next_of_32(std::span<const uint8_t> text, size_t at,
                                                      Block &block) const
{
    constexpr size_t kBlockBytes = 32, kReadBytes = kBlockBytes + kWindowBytes - 1;
    const __m256i nibble = _mm256_set1_epi8(0xf);
    __m256i low[kWindowBytes], high[kWindowBytes];
    for (size_t i = 0; i < kWindowBytes; ++i) {
        low[i] = both_lanes(low_[i].data());
        high[i] = both_lanes(high_[i].data());
    }
    uint8_t rest[kReadBytes];
    for (; at < text.size(); at += kBlockBytes) {
        const size_t bytes = text.size() - at;
        const uint8_t *from = text.data() + at;
        if (bytes < kReadBytes) {
            std::memset(rest, 0, sizeof(rest));
            std::memcpy(rest, from, bytes);
            from = rest;
        }
        __m256i all = _mm256_set1_epi8(-1);
        for (size_t i = 0; i < kWindowBytes; ++i) {
            const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i));
            const __m256i below = _mm256_and_si256(some, nibble);
            const __m256i above = _mm256_and_si256(_mm256_srli_epi16(some, 4), nibble);
            all = _mm256_and_si256(all, _mm256_and_si256(_mm256_shuffle_epi8(low[i], below),
                                                         _mm256_shuffle_epi8(high[i], above)));
        }
        if (_mm256_testz_si256(all, all)) [[likely]]
            continue;
        block.places =
            ~uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_setzero_si256())));
        if (bytes < kBlockBytes)
            block.places &= (uint32_t{1} << bytes) - 1;
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(block.buckets.data()), all);
        return at;
    }
    return at;
}

// No byte beyond the text is read: those are masked, and 0.
[[gnu::target("avx512bw")]] size_t NibbleScan::next_of_64(std::span<const uint8_t> text, size_t at,
                                                          Block &block) const
{
    constexpr size_t kBlockBytes = 64, kReadBytes = kBlockBytes + kWindowBytes - 1;
    const __m512i nibble = _mm512_set1_epi8(0xf);
    __m512i low[kWindowBytes], high[kWindowBytes];
    for (size_t i = 0; i < kWindowBytes; ++i) {
        low[i] = all_lanes(low_[i].data());
        high[i] = all_lanes(high_[i].data());
    }
    for (; at < text.size(); at += kBlockBytes) {
        const size_t bytes = text.size() - at;
        const uint8_t *from = text.data() + at;
        __m512i all = _mm512_set1_epi8(-1);
        for (size_t i = 0; i < kWindowBytes; ++i) {
            const __m512i some = bytes >= kReadBytes
                                     ? _mm512_loadu_si512(from + i)
                                     : _mm512_maskz_loadu_epi8(first_bits(bytes, i), from + i);
            const __m512i below = _mm512_and_si512(some, nibble);
            const __m512i above = _mm512_and_si512(_mm512_srli_epi16(some, 4), nibble);
            all = _mm512_and_si512(all, _mm512_and_si512(_mm512_shuffle_epi8(low[i], below),
                                                         _mm512_shuffle_epi8(high[i], above)));
        }
        block.places = _mm512_test_epi8_mask(all, all) & first_bits(bytes, 0);
        if (block.places == 0) [[likely]]
            continue;
        _mm512_storeu_si512(block.buckets.data(), all);
        return at;
    }
    return at;
}
#else
size_t NibbleScan::next_of_32(std::span<const uint8_t> text, size_t, Block &) const
{
    return text.size(); // is_supported() is false
}

size_t NibbleScan::next_of_64(std::span<const uint8_t> text, size_t, Block &) const
{
    return text.size();
}
#endif
} // namespace mapi::match::rule
