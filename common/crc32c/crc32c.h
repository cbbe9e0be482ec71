/* SPDX-License-Identifier: MIT */
/* CRC32C (Castagnoli, RFC 3720): bytes -> checksum of a file's structures. */
#ifndef NSLICE_CRC32C_H
#define NSLICE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the fastest way that the processor has.  Any thread. */
uint32_t nslice_crc32c(const void *data, size_t bytes);

/*
 * The same by the processor's instruction, if available, and by table; public so that a test can
 * compare them.
 */
uint32_t nslice_crc32c_by_instruction(const void *data, size_t bytes);
uint32_t nslice_crc32c_by_table(const void *data, size_t bytes);
/* Whether nslice_crc32c() has a faster way than both. */
int nslice_crc32c_can_fold(void);

#ifdef __cplusplus
}
#endif

#endif /* NSLICE_CRC32C_H */
