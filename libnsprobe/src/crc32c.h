/* SPDX-License-Identifier: MIT */
/* CRC32C (Castagnoli, RFC 3720): bytes -> checksum of a file's structures. */
#ifndef NSP_CRC32C_H
#define NSP_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t nsp_crc32c(const void *data, size_t bytes);

#endif /* NSP_CRC32C_H */
