/* SPDX-License-Identifier: MIT */
/* Both halves of the checksum, which the library chooses between by CPU. */
#define nsp_crc32c tested_crc32c
#include "crc32c.c"

uint32_t crc32c_by_table(const void *data, size_t bytes);
uint32_t crc32c_by_instruction(const void *data, size_t bytes);
int crc32c_has_instruction(void);

uint32_t crc32c_by_table(const void *data, size_t bytes)
{
    return ~by_table(~0u, data, bytes);
}

uint32_t crc32c_by_instruction(const void *data, size_t bytes)
{
    return ~by_instruction(~0u, data, bytes);
}

int crc32c_has_instruction(void)
{
    return has_instruction();
}
