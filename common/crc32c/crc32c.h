/* SPDX-License-Identifier: MIT */
/* CRC32C (Castagnoli, RFC 3720): bytes -> checksum of a file's structures. */
#ifndef NSLICE_CRC32C_H
#define NSLICE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Uses the processor's instruction if available.  Any thread. */
uint32_t nslice_crc32c(const void *data, size_t bytes);

/* The same by table; public so that a test can compare the two. */
uint32_t nslice_crc32c_by_table(const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* NSLICE_CRC32C_H */
