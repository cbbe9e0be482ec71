// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes -> a complete analysis and all its exports, without a crash.
//
// Wrong checksums would make the reader reject nearly every mutation, so the target corrects them
// first: after the file header it walks the chunks by their lengths and recomputes each checksum.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "analyse/analyse.hpp"
#include "common/crc32c/crc32c.h"
#include "decode/error.hpp"
#include "export/exporter.hpp"

namespace
{
void seal(std::vector<std::byte> &bytes)
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
        chunk.kind = 1 + chunk.kind % 6;
        chunk.payload_bytes = uint32_t(std::min<size_t>(chunk.payload_bytes % 4096, left) / 8 * 8);
        chunk.payload_crc32c = nslice_crc32c(bytes.data() + at + sizeof chunk, chunk.payload_bytes);
        chunk.header_crc32c = nslice_crc32c(&chunk, offsetof(nslice_chunk_header, header_crc32c));
        std::memcpy(bytes.data() + at, &chunk, sizeof chunk);
        at += sizeof chunk + chunk.payload_bytes;
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::vector<std::byte> bytes(size);
    if (size > 0)
        std::memcpy(bytes.data(), data, size);
    if (size > 0 && data[size - 1] % 4 != 0)
        seal(bytes);
    try {
        nsdump::TraceFile trace(nsdump::bytes_in_memory(std::move(bytes), "fuzz.nsl"));
        const nsdump::StatsReport report = nsdump::analyse_trace(trace);
        nsdump::stats_json(report);
        nsdump::stats_csv(report);
        nsdump::stats_text(report);
    } catch (const nsdump::TraceError &) {
        // refused with a message, as expected
    }
    return 0;
}
