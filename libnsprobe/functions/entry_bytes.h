/* SPDX-License-Identifier: MIT */
/* Instructions that do nothing, as compilers put them at the begin of a function. */
#ifndef NSF_ENTRY_BYTES_H
#define NSF_ENTRY_BYTES_H

#include <stdint.h>

#define NSF_CALL_BYTES 5
#define NSF_LONGEST_INSTRUCTION 15
/* Nops with room for a call: one byte too few, and the longest one. */
#define NSF_LONGEST_ENTRY (NSF_CALL_BYTES - 1 + NSF_LONGEST_INSTRUCTION)

/* The length of a nop at the address; 0: another instruction. */
static inline uint32_t nsf_nop_bytes(const uint8_t *at)
{
    uint32_t prefixes = 0, operand, base, bytes;

    while ((at[prefixes] == 0x66 || at[prefixes] == 0x2e) && prefixes < 8)
        ++prefixes;
    at += prefixes;
    if (at[0] == 0x90)
        return prefixes + 1;
    if (at[0] != 0x0f || at[1] != 0x1f)
        return 0;
    operand = at[2] >> 6; /* 0: memory, 1: and a byte, 2: and four bytes */
    base = (at[2] & 7) == 4;
    if (operand == 3 || (operand == 0 && (at[2] & 7) == 5))
        return 0;
    bytes = prefixes + 3 + base + (operand == 1) + 4 * (operand == 2);
    return bytes <= NSF_LONGEST_INSTRUCTION ? bytes : 0;
}

/* Of the nops from the address on, the first that have room for a call; 0: there is none. */
static inline uint32_t nsf_entry_bytes(const uint8_t *at)
{
    uint32_t bytes = 0, next;

    while (bytes < NSF_CALL_BYTES && (next = nsf_nop_bytes(at + bytes)))
        bytes += next;
    return bytes < NSF_CALL_BYTES ? 0 : bytes;
}

/* An entry may begin with `endbr64`; the address behind it. */
static inline const uint8_t *nsf_behind_endbr(const uint8_t *at)
{
    return at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e && at[3] == 0xfa ? at + 4 : at;
}

#endif /* NSF_ENTRY_BYTES_H */
