// SPDX-License-Identifier: MIT
// One string in a packet: compares its first and last byte at 16 or 32 positions at once, and the
// rest where both match.
#include "literal_search.hpp"

#ifdef __x86_64__
#include <immintrin.h>

#include <cstring>

namespace mapi::match
{
namespace
{
uint32_t load_4(const uint8_t *from)
{
    uint32_t value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

// First and last byte are known to be equal.
[[gnu::always_inline]] inline bool has_rest(const uint8_t *place, const uint8_t *literal,
                                            size_t bytes)
{
    if (bytes <= 2)
        return true;
    if (bytes <= 4)
        return place[1] == literal[1] && place[bytes - 2] == literal[bytes - 2];
    if (bytes <= 8)
        return load_4(place) == load_4(literal) &&
               load_4(place + bytes - 4) == load_4(literal + bytes - 4);
    return std::memcmp(place + 1, literal + 1, bytes - 2) == 0;
}

// A packet full of false starts would cost its length times the string's.  If there are this many
// more of them than the progress pays for, memmem() takes over: slower at first, but in linear
// time.
constexpr size_t kFreeFalseStarts = 32;
constexpr size_t kBytesPerFalseStart = 4;

enum class Found { kYes, kNo, kTooManyFalseStarts };

class Candidates
{
public:
    Candidates(const uint8_t *data, std::string_view literal)
        : data_(data), literal_(reinterpret_cast<const uint8_t *>(literal.data())),
          bytes_(literal.size())
    {
    }

    // Bit i of `places`: first and last byte match at data + at + i.
    [[gnu::always_inline]] inline Found check(uint32_t places, size_t at)
    {
        for (; places != 0; places &= places - 1) {
            if (has_rest(data_ + at + size_t(__builtin_ctz(places)), literal_, bytes_))
                return Found::kYes;
            ++false_starts_;
        }
        return false_starts_ > kFreeFalseStarts + at / kBytesPerFalseStart
                   ? Found::kTooManyFalseStarts
                   : Found::kNo;
    }

private:
    const uint8_t *data_;
    const uint8_t *literal_;
    size_t bytes_;
    size_t false_starts_ = 0;
};

bool has_literal_at_few_places(const uint8_t *data, size_t places, std::string_view literal)
{
    const auto *bytes = reinterpret_cast<const uint8_t *>(literal.data());
    const size_t last = literal.size() - 1;
    for (size_t at = 0; at < places; ++at)
        if (data[at] == bytes[0] && data[at + last] == bytes[last] &&
            has_rest(data + at, bytes, literal.size()))
            return true;
    return false;
}
} // namespace

bool has_literal_sse2(const uint8_t *data, size_t bytes, std::string_view literal) noexcept
{
    constexpr size_t kBlock = 16;
    if (bytes < literal.size())
        return false;
    const size_t last = literal.size() - 1;
    const size_t places = bytes - last;
    if (places < kBlock)
        return has_literal_at_few_places(data, places, literal);
    const __m128i first_byte = _mm_set1_epi8(literal.front());
    const __m128i last_byte = _mm_set1_epi8(literal.back());
    Candidates candidates(data, literal);
    for (size_t at = 0;;) {
        const __m128i starts = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data + at));
        const __m128i ends = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data + at + last));
        const __m128i both =
            _mm_and_si128(_mm_cmpeq_epi8(starts, first_byte), _mm_cmpeq_epi8(ends, last_byte));
        if (const int found = _mm_movemask_epi8(both); found != 0) {
            const Found result = candidates.check(uint32_t(found), at);
            if (result == Found::kYes)
                return true;
            if (result == Found::kTooManyFalseStarts)
                return has_literal_portable(data + at, bytes - at, literal);
        }
        if (at == places - kBlock)
            return false;
        at = at + 2 * kBlock <= places
                 ? at + kBlock
                 : places - kBlock; // the last block overlaps the previous one
    }
}

namespace
{
struct Needle {
    __m256i first_byte;
    __m256i last_byte;
    size_t last;
};

// Ones at the positions from `data` on where first and last byte match.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i fits(const uint8_t *data,
                                                                const Needle &needle)
{
    const __m256i starts = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(data));
    const __m256i ends = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(data + needle.last));
    return _mm256_and_si256(_mm256_cmpeq_epi8(starts, needle.first_byte),
                            _mm256_cmpeq_epi8(ends, needle.last_byte));
}
} // namespace

[[gnu::target("avx2")]] bool has_literal_avx2(const uint8_t *data, size_t bytes,
                                              std::string_view literal) noexcept
{
    constexpr size_t kBlock = 32;
    if (bytes < literal.size())
        return false;
    const size_t last = literal.size() - 1;
    const size_t places = bytes - last;
    if (places < kBlock)
        return has_literal_sse2(data, bytes, literal);
    const Needle needle{_mm256_set1_epi8(literal.front()), _mm256_set1_epi8(literal.back()), last};
    Candidates candidates(data, literal);
    size_t at = 0;
    for (;;) {
        // Four blocks share one branch until something matches.
        for (; at + 4 * kBlock <= places; at += 4 * kBlock) {
            const __m256i fits_in_1_2 =
                _mm256_or_si256(fits(data + at, needle), fits(data + at + kBlock, needle));
            const __m256i fits_in_3_4 = _mm256_or_si256(fits(data + at + 2 * kBlock, needle),
                                                        fits(data + at + 3 * kBlock, needle));
            const __m256i any = _mm256_or_si256(fits_in_1_2, fits_in_3_4);
            if (!_mm256_testz_si256(any, any))
                break;
        }
        for (size_t block = 0; block < 4; ++block) {
            at = at + kBlock <= places
                     ? at
                     : places - kBlock; // the last block overlaps the previous one
            const auto found = uint32_t(_mm256_movemask_epi8(fits(data + at, needle)));
            if (found != 0) {
                const Found result = candidates.check(found, at);
                if (result == Found::kYes)
                    return true;
                if (result == Found::kTooManyFalseStarts)
                    return has_literal_portable(data + at, bytes - at, literal);
            }
            at += kBlock;
            if (at >= places)
                return false;
        }
    }
}
} // namespace mapi::match
#endif
