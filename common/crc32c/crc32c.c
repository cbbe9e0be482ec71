/* SPDX-License-Identifier: MIT */
/* CRC32C: by folding, by instruction with three parallel lanes, or by table. */
#include "crc32c.h"

#include <string.h>

#if defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* bit-reflected 0x1edc6f41 */

static uint32_t table[256]; /* effect of one zero byte on a state, by the byte shifted out */

#if defined(__x86_64__)
#define LANE_BYTES ((size_t)1024)
/* Effect of one and two lanes of zeros, by each byte of the state. */
static uint32_t past_one[4][256], past_two[4][256];

static uint32_t past_zeros(uint32_t state, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i)
        state = state >> 8 ^ table[state & 0xff];
    return state;
}

/* The checksum is linear: the result for a byte is the sum of the results for its bits. */
static void fill_past(uint32_t past[4][256], size_t zero_bytes)
{
    for (unsigned byte = 0; byte < 4; ++byte) {
        uint32_t of_bit[8];

        for (unsigned bit = 0; bit < 8; ++bit)
            of_bit[bit] = past_zeros(1u << (8 * byte + bit), zero_bytes);
        for (uint32_t value = 0; value < 256; ++value) {
            uint32_t sum = 0;

            for (unsigned bit = 0; bit < 8; ++bit)
                sum ^= value >> bit & 1 ? of_bit[bit] : 0;
            __atomic_store_n(&past[byte][value], sum, __ATOMIC_RELAXED);
        }
    }
}

#define FOLD_BYTES ((size_t)128)
/*
 * What 16 bytes are multiplied by to move them by FOLD_BYTES: x to the power of 1024 + 64 for the
 * first half, and of 1024 for the second, modulo the polynomial and bit-reflected.  One power less
 * each, since the product of two bit-reflected halves is one place too low.
 */
#define FOLD_FIRST (0x6577b245ll << 32)  /* x^1087 */
#define FOLD_SECOND (0x7417153fll << 32) /* x^1023 */

static void fill_lanes(void)
{
    fill_past(past_one, LANE_BYTES);
    fill_past(past_two, 2 * LANE_BYTES);
}
#else
static void fill_lanes(void) {}
#endif

/*
 * At first use, not in a constructor, since other constructors may run earlier.  Two threads may
 * fill the tables concurrently: they store the same values.
 */
static void make_ready(void)
{
    static int ready;

    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        return;
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t entry = i;

        for (int bit = 0; bit < 8; ++bit)
            entry = entry & 1 ? entry >> 1 ^ POLYNOMIAL : entry >> 1;
        __atomic_store_n(&table[i], entry, __ATOMIC_RELAXED);
    }
    fill_lanes();
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
}

static uint32_t update_by_table(uint32_t state, const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i)
        state = state >> 8 ^ table[(state ^ data[i]) & 0xff];
    return state;
}

#if defined(__x86_64__)

static uint32_t move_past(uint32_t past[4][256], uint32_t state)
{
    return past[0][state & 0xff] ^ past[1][state >> 8 & 0xff] ^ past[2][state >> 16 & 0xff] ^
           past[3][state >> 24];
}

static uint64_t load64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

/* The instruction has a latency of 3 cycles but one can start every cycle: hence three lanes. */
__attribute__((target("sse4.2"))) static uint32_t
update_by_instruction(uint32_t start, const unsigned char *at, size_t bytes)
{
    uint64_t state = start;

    for (; bytes >= 3 * LANE_BYTES; at += 3 * LANE_BYTES, bytes -= 3 * LANE_BYTES) {
        uint64_t second = 0, third = 0;

        for (size_t i = 0; i < LANE_BYTES; i += 8) {
            state = __builtin_ia32_crc32di(state, load64(at + i));
            second = __builtin_ia32_crc32di(second, load64(at + LANE_BYTES + i));
            third = __builtin_ia32_crc32di(third, load64(at + 2 * LANE_BYTES + i));
        }
        state = move_past(past_two, (uint32_t)state) ^ move_past(past_one, (uint32_t)second) ^
                (uint32_t)third;
    }
    for (; bytes >= 8; at += 8, bytes -= 8)
        state = __builtin_ia32_crc32di(state, load64(at));
    for (; bytes > 0; ++at, --bytes)
        state = __builtin_ia32_crc32qi((uint32_t)state, *at);
    return (uint32_t)state;
}

static int has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}

static int has_folding(void)
{
    return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2") &&
           has_instruction();
}

__attribute__((target("avx2,vpclmulqdq"))) static inline __m256i fold(__m256i value, __m256i by,
                                                                      const __m256i *next)
{
    const __m256i first = _mm256_clmulepi64_epi128(value, by, 0x00),
                  second = _mm256_clmulepi64_epi128(value, by, 0x11);

    return _mm256_xor_si256(_mm256_xor_si256(first, second), _mm256_loadu_si256(next));
}

/*
 * Replaces the first FOLD_BYTES by an equal contribution to the FOLD_BYTES after them, until fewer
 * than FOLD_BYTES are left (V. Gopal et al., Fast CRC Computation for Generic Polynomials Using
 * PCLMULQDQ Instruction, Intel, 2009).  256 bits at a time, since wider registers can slow down the
 * whole program.
 */
__attribute__((target("avx2,vpclmulqdq,pclmul,sse4.2"))) static uint32_t
update_by_folding(uint32_t state, const unsigned char *at, size_t bytes)
{
    const __m256i by = _mm256_set_epi64x(FOLD_SECOND, FOLD_FIRST, FOLD_SECOND, FOLD_FIRST);
    const __m256i *from = (const __m256i *)at;
    __m256i last[4];

    if (bytes < 2 * FOLD_BYTES)
        return update_by_instruction(state, at, bytes);
    for (unsigned i = 0; i < 4; ++i)
        last[i] = _mm256_loadu_si256(from + i);
    last[0] = _mm256_xor_si256(last[0], _mm256_set_epi32(0, 0, 0, 0, 0, 0, 0, (int)state));
    for (bytes -= FOLD_BYTES, from += 4; bytes >= FOLD_BYTES; bytes -= FOLD_BYTES, from += 4) {
        last[0] = fold(last[0], by, from);
        last[1] = fold(last[1], by, from + 1);
        last[2] = fold(last[2], by, from + 2);
        last[3] = fold(last[3], by, from + 3);
    }
    state = update_by_instruction(0, (const unsigned char *)last, sizeof(last));
    return update_by_instruction(state, (const unsigned char *)from, bytes);
}

#elif defined(__ARM_FEATURE_CRC32)

static uint32_t update_by_instruction(uint32_t state, const unsigned char *at, size_t bytes)
{
    uint64_t value;

    for (; bytes >= 8; at += 8, bytes -= 8) {
        memcpy(&value, at, sizeof(value));
        state = __crc32cd(state, value);
    }
    for (; bytes > 0; ++at, --bytes)
        state = __crc32cb(state, *at);
    return state;
}

static int has_instruction(void)
{
    return 1;
}

#else

static uint32_t update_by_instruction(uint32_t state, const unsigned char *at, size_t bytes)
{
    return update_by_table(state, at, bytes);
}

static int has_instruction(void)
{
    return 0;
}

#endif

uint32_t nslice_crc32c_by_table(const void *data, size_t bytes)
{
    make_ready();
    return ~update_by_table(~0u, data, bytes);
}

uint32_t nslice_crc32c_by_instruction(const void *data, size_t bytes)
{
    make_ready();
    return ~(has_instruction() ? update_by_instruction(~0u, data, bytes)
                               : update_by_table(~0u, data, bytes));
}

#if defined(__x86_64__)
int nslice_crc32c_can_fold(void)
{
    return has_folding();
}

uint32_t nslice_crc32c(const void *data, size_t bytes)
{
    if (!has_folding())
        return nslice_crc32c_by_instruction(data, bytes);
    make_ready();
    return ~update_by_folding(~0u, data, bytes);
}
#else
int nslice_crc32c_can_fold(void)
{
    return 0;
}

uint32_t nslice_crc32c(const void *data, size_t bytes)
{
    return nslice_crc32c_by_instruction(data, bytes);
}
#endif
