// SPDX-License-Identifier: MIT
// decode: bytes -> CRC32C (Castagnoli, RFC 3720).
#include "decode/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace nsdump
{
namespace
{
constexpr std::uint32_t kPolynomial = 0x82f63b78; // bit-reflected 0x1edc6f41
constexpr std::size_t kLaneBytes = 1024;

using Table = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Table make_table()
{
    Table table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) ? kPolynomial : 0);
        table[0][i] = crc;
    }
    for (std::size_t slice = 1; slice < 8; ++slice)
        for (std::uint32_t i = 0; i < 256; ++i)
            table[slice][i] = (table[slice - 1][i] >> 8) ^ table[0][table[slice - 1][i] & 0xff];
    return table;
}

constexpr Table kTable = make_table();

// state after one more byte of zero, for each byte of the state: applied kLaneBytes times it moves a state past a lane.
constexpr std::uint32_t past_zero_byte(std::uint32_t state)
{
    return (state >> 8) ^ kTable[0][state & 0xff];
}

std::uint32_t update_by_table(std::uint32_t state, const unsigned char *at, std::size_t bytes)
{
    for (; bytes >= 8; at += 8, bytes -= 8) {
        const std::uint32_t low = state ^ (at[0] | at[1] << 8 | at[2] << 16 | std::uint32_t{at[3]} << 24);
        state = kTable[7][low & 0xff] ^ kTable[6][low >> 8 & 0xff] ^ kTable[5][low >> 16 & 0xff] ^
                kTable[4][low >> 24] ^ kTable[3][at[4]] ^ kTable[2][at[5]] ^ kTable[1][at[6]] ^
                kTable[0][at[7]];
    }
    for (; bytes > 0; ++at, --bytes)
        state = (state >> 8) ^ kTable[0][(state ^ *at) & 0xff];
    return state;
}

#if defined(__x86_64__)
using Shift = std::array<std::array<std::uint32_t, 256>, 4>;

// CRC is linear, so moving a state past a lane of zeros is four table look-ups, one a byte of the state.
Shift make_shift(std::size_t zero_bytes)
{
    Shift shift{};
    for (std::size_t byte = 0; byte < 4; ++byte) {
        for (std::uint32_t value = 0; value < 256; ++value) {
            std::uint32_t state = value << (8 * byte);
            for (std::size_t i = 0; i < zero_bytes; ++i)
                state = past_zero_byte(state);
            shift[byte][value] = state;
        }
    }
    return shift;
}

std::uint32_t move(const Shift &shift, std::uint32_t state)
{
    return shift[0][state & 0xff] ^ shift[1][state >> 8 & 0xff] ^ shift[2][state >> 16 & 0xff] ^
           shift[3][state >> 24];
}

std::uint64_t load64(const unsigned char *at)
{
    std::uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// The instruction takes 3 cycles but one can start every cycle: three lanes side by side fill it.
__attribute__((target("sse4.2"))) std::uint32_t
update_by_instruction(std::uint32_t start, const unsigned char *at, std::size_t bytes)
{
    static const Shift shift_one = make_shift(kLaneBytes);
    static const Shift shift_two = make_shift(2 * kLaneBytes);
    std::uint64_t state = start;
    for (; bytes >= 3 * kLaneBytes; at += 3 * kLaneBytes, bytes -= 3 * kLaneBytes) {
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        for (std::size_t i = 0; i < kLaneBytes; i += 8) {
            state = _mm_crc32_u64(state, load64(at + i));
            second = _mm_crc32_u64(second, load64(at + kLaneBytes + i));
            third = _mm_crc32_u64(third, load64(at + 2 * kLaneBytes + i));
        }
        state = move(shift_two, static_cast<std::uint32_t>(state)) ^
                move(shift_one, static_cast<std::uint32_t>(second)) ^ static_cast<std::uint32_t>(third);
    }
    for (; bytes >= 8; at += 8, bytes -= 8)
        state = _mm_crc32_u64(state, load64(at));
    for (; bytes > 0; ++at, --bytes)
        state = _mm_crc32_u8(static_cast<std::uint32_t>(state), *at);
    return static_cast<std::uint32_t>(state);
}
#elif defined(__ARM_FEATURE_CRC32)
std::uint32_t update_by_instruction(std::uint32_t state, const unsigned char *at, std::size_t bytes)
{
    for (; bytes >= 8; at += 8, bytes -= 8) {
        std::uint64_t value;
        std::memcpy(&value, at, sizeof value);
        state = __crc32cd(state, value);
    }
    for (; bytes > 0; ++at, --bytes)
        state = __crc32cb(state, *at);
    return state;
}
#endif
} // namespace

std::uint32_t crc32c_by_table(const void *data, std::size_t bytes)
{
    return ~update_by_table(~0u, static_cast<const unsigned char *>(data), bytes);
}

std::uint32_t crc32c(const void *data, std::size_t bytes)
{
#if defined(__x86_64__)
    static const bool has_instruction = __builtin_cpu_supports("sse4.2");
    if (!has_instruction)
        return crc32c_by_table(data, bytes);
    return ~update_by_instruction(~0u, static_cast<const unsigned char *>(data), bytes);
#elif defined(__ARM_FEATURE_CRC32)
    return ~update_by_instruction(~0u, static_cast<const unsigned char *>(data), bytes);
#else
    return crc32c_by_table(data, bytes);
#endif
}
} // namespace nsdump
