// SPDX-License-Identifier: MIT
// Chunk pipe: chunks with their checksums -> a pipe that somebody else reads.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <nslice/file.h>

namespace nsbpf
{
class ChunkPipe
{
public:
    // Throws Refusal.
    ChunkPipe();
    ~ChunkPipe();
    ChunkPipe(const ChunkPipe &) = delete;
    ChunkPipe &operator=(const ChunkPipe &) = delete;

    int reader() const { return ends_[0]; }
    // Of records: the caller has set kind, sequence, cpu, records, lost_before and first_ticks.
    // Waits while the pipe is full.  Returns false once its reader is gone.
    bool write(nslice_chunk_header header, const void *payload, uint32_t payload_bytes);
    // Of any other kind, padded to 8 bytes.
    bool write_small(uint16_t kind, const std::string &payload);
    void close_writer();
    void close_reader();

private:
    bool write_all(const void *bytes, size_t count);

    std::array<int, 2> ends_ = {-1, -1};
    std::array<uint64_t, NSLICE_CHUNK_KINDS> sequence_ = {};
};
} // namespace nsbpf
