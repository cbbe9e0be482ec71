/* SPDX-License-Identifier: MIT */
/* Instructions that do nothing, as compilers put them at the begin of a function. */
#ifndef NSF_ENTRY_BYTES_H
#define NSF_ENTRY_BYTES_H

#include <stdint.h>

#define NSF_CALL_BYTES 5
#define NSF_LONGEST_INSTRUCTION 15
/* Nops with room for a call: one byte too few, and the longest one. */
#define NSF_LONGEST_ENTRY (NSF_CALL_BYTES - 1 + NSF_LONGEST_INSTRUCTION)

/* The length of a nop at the begin of this code; 0: another instruction, or cut off. */
static inline uint32_t nsf_nop_bytes(const uint8_t *code, uint64_t bytes)
{
    uint32_t at = 0, operand, length;

    while (at < bytes && (code[at] == 0x66 || code[at] == 0x2e))
        ++at;
    if (at < bytes && code[at] == 0x90)
        length = at + 1;
    else if (bytes < at + 3ull || code[at] != 0x0f || code[at + 1] != 0x1f)
        return 0;
    else {
        operand = code[at + 2] >> 6; /* 0: memory, 1: and a byte, 2: and four bytes */
        if (operand == 3 || (operand == 0 && (code[at + 2] & 7) == 5))
            return 0;
        length = at + 3 + ((code[at + 2] & 7) == 4) + (operand == 1) + 4 * (operand == 2);
    }
    return length <= NSF_LONGEST_INSTRUCTION && length <= bytes ? length : 0;
}

/* Number of bytes of the nops at the start of this code that a call replaces; 0: no room for one.
 */
static inline uint32_t nsf_entry_bytes(const uint8_t *code, uint64_t bytes)
{
    uint32_t length = 0, next;

    while (length < NSF_CALL_BYTES && (next = nsf_nop_bytes(code + length, bytes - length)))
        length += next;
    return length < NSF_CALL_BYTES ? 0 : length;
}

/* A function may begin with `endbr64`; its length. */
static inline uint32_t nsf_endbr_bytes(const uint8_t *code, uint64_t bytes)
{
    return bytes >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa
               ? 4
               : 0;
}

#endif /* NSF_ENTRY_BYTES_H */
