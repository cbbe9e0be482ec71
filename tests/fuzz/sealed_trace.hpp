// SPDX-License-Identifier: MIT
// fuzz: any bytes -> the same as a trace with correct checksums.
//
// Wrong checksums would make the reader reject nearly every mutation.  After the file header,
// chunks are found by their lengths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <nslice/file.h>

#include "common/crc32c/crc32c.h"

namespace fuzz
{
inline void seal(std::vector<std::byte> &bytes)
{
    if (bytes.size() < sizeof(nslice_file_header))
        return;
    nslice_file_header file;
    std::memcpy(&file, bytes.data(), sizeof file);
    std::memcpy(file.magic, NSLICE_FILE_MAGIC, sizeof file.magic);
    file.header_bytes = sizeof file;
    file.byte_order = NSLICE_FILE_BYTE_ORDER;
    file.version = 1;
    file.header_crc32c = nslice_crc32c(&file, offsetof(nslice_file_header, header_crc32c));
    std::memcpy(bytes.data(), &file, sizeof file);
    for (size_t at = sizeof file; at + sizeof(nslice_chunk_header) <= bytes.size();) {
        nslice_chunk_header chunk;
        std::memcpy(&chunk, bytes.data() + at, sizeof chunk);
        const size_t left = bytes.size() - at - sizeof chunk;
        if (chunk.reserved1 % 8 == 7) // leave some damage in
            return;
        chunk.magic = NSLICE_CHUNK_MAGIC;
        chunk.header_bytes = sizeof chunk;
        if (chunk.kind == 0 || chunk.kind >= NSLICE_CHUNK_KINDS)
            chunk.kind = 1 + chunk.kind % (NSLICE_CHUNK_KINDS - 1);
        if (chunk.payload_bytes > left)
            chunk.payload_bytes = uint32_t(std::min<size_t>(chunk.payload_bytes % 4096, left));
        chunk.payload_bytes = chunk.payload_bytes / NSLICE_WORD_BYTES * NSLICE_WORD_BYTES;
        chunk.payload_crc32c = nslice_crc32c(bytes.data() + at + sizeof chunk, chunk.payload_bytes);
        chunk.header_crc32c = nslice_crc32c(&chunk, offsetof(nslice_chunk_header, header_crc32c));
        std::memcpy(bytes.data() + at, &chunk, sizeof chunk);
        at += sizeof chunk + chunk.payload_bytes;
    }
}
} // namespace fuzz
