// SPDX-License-Identifier: MIT
// decode: the chunks of one CPU -> its events, in blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/chunk_walker.hpp"
#include "decode/event.hpp"
#include "decode/file_reader.hpp"

namespace nsdump
{
// Faults found while reading the records.
struct StreamFaults {
    uint64_t decoded = 0;          // records of any kind
    uint64_t unknown_kind = 0;     // skipped by their length
    uint64_t malformed_chunks = 0; // correct checksum, but the payload ends in no record
    uint64_t wrong_counts = 0;     // chunks whose header declares another number of records
    uint64_t ticks_back = 0;       // chunks in or before which the clock goes backwards
    uint64_t declared = 0;         // records declared by the headers of the chunks read so far
};

class CpuStream
{
public:
    // `chunks` is an element of trace.cpus().
    CpuStream(TraceFile &trace, const CpuChunks &chunks);

    // The next block, empty at the end.  Events and their words are valid until the next call.
    std::span<const Event> next_block();
    // True if records of this CPU were lost, or chunks are missing, right before the last block.
    bool is_after_loss() const { return is_after_loss_; }
    // Records of this CPU that were lost before the last block, as its chunk declares.
    uint64_t lost_before() const { return lost_before_; }
    uint64_t offset() const { return offset_; }
    uint32_t cpu() const { return chunks_.cpu; }
    bool is_kernel() const { return chunks_.is_kernel; }
    const StreamFaults &faults() const { return faults_; }

private:
    bool next_chunk();
    void finish_chunk();
    void check_order(size_t count);

    TraceFile &trace_;
    const CpuChunks &chunks_;
    ChunkWalker walker_;
    Offsets::Reader offsets_;
    uint64_t offset_ = 0; // of the last chunk
    std::vector<uint64_t> payload_;
    std::vector<Event> events_;
    RecordCursor cursor_;
    uint32_t declared_records_ = 0;
    uint64_t next_sequence_ = 0;
    uint64_t lost_before_ = 0;
    uint64_t last_ticks_ = 0;
    bool has_ticks_back_ = false;
    bool is_after_loss_ = false;
    bool is_chunk_open_ = false;
    StreamFaults faults_;
};
} // namespace nsdump
