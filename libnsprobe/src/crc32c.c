/* SPDX-License-Identifier: MIT */
/* CRC32C: by the CPU's own instruction where it has one, else by table. */
#include "crc32c.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* reflected */

static uint32_t by_table(uint32_t crc, const unsigned char *data, size_t bytes)
{
    static uint32_t table[256];
    static int ready;

    /* Two threads may fill it at once: with the same values. */
    if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t entry = i;

            for (int bit = 0; bit < 8; ++bit)
                entry = entry & 1 ? entry >> 1 ^ POLYNOMIAL : entry >> 1;
            __atomic_store_n(&table[i], entry, __ATOMIC_RELAXED);
        }
        __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    }
    for (size_t i = 0; i < bytes; ++i)
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
    return crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const unsigned char *data, size_t bytes)
{
    uint64_t state = crc, word;

    for (; bytes >= 8; data += 8, bytes -= 8) {
        memcpy(&word, data, 8);
        state = __builtin_ia32_crc32di(state, word);
    }
    for (; bytes > 0; ++data, --bytes)
        state = __builtin_ia32_crc32qi((uint32_t)state, *data);
    return (uint32_t)state;
}

static int has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}

#else

static uint32_t by_instruction(uint32_t crc, const unsigned char *data, size_t bytes)
{
    return by_table(crc, data, bytes);
}

static int has_instruction(void)
{
    return 0;
}

#endif

uint32_t nsp_crc32c(const void *data, size_t bytes)
{
    return ~(has_instruction() ? by_instruction(~0u, data, bytes) : by_table(~0u, data, bytes));
}
