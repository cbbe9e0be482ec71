// SPDX-License-Identifier: MIT
// decode: the chunks of one CPU -> its events, in blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decode/chunk_walker.hpp"
#include "decode/event.hpp"
#include "decode/file_reader.hpp"
#include "decode/seek/read_plan.hpp"
#include "decode/source/faster_way.hpp"
#include "decode/source/look_ahead.hpp"

namespace nsdump
{
// Faults found while reading the records.
struct StreamFaults {
    uint64_t decoded = 0;          // records of any kind
    uint64_t unknown_kind = 0;     // skipped by their length
    uint64_t malformed_chunks = 0; // correct checksum, but the payload ends in no record
    uint64_t wrong_counts = 0;     // chunks whose header declares another number of records
    uint64_t wrong_starts = 0;     // the same, a time that is not that of the first record
    uint64_t ticks_back = 0;       // chunks in or before which the clock goes backwards
    uint64_t declared = 0;         // records declared by the headers of the chunks read so far
    uint64_t chunks = 0;           // these chunks, and those with a wrong checksum

    StreamFaults &operator+=(const StreamFaults &other)
    {
        decoded += other.decoded;
        unknown_kind += other.unknown_kind;
        malformed_chunks += other.malformed_chunks;
        wrong_counts += other.wrong_counts;
        wrong_starts += other.wrong_starts;
        ticks_back += other.ticks_back;
        declared += other.declared;
        chunks += other.chunks;
        return *this;
    }
};

class CpuStream
{
public:
    // `chunks` is an element of trace.cpus().  With a plan, which has to outlive the stream, only
    // the events in its windows are passed on.  Damage goes to the trace's log.
    CpuStream(TraceFile &trace, const CpuChunks &chunks, const ReadPlan *plan = nullptr)
        : CpuStream(trace, chunks, trace.damage(), plan)
    {
    }
    // The same with another log: streams with their own may be read by different threads.
    CpuStream(const TraceFile &trace, const CpuChunks &chunks, DamageLog &damage,
              const ReadPlan *plan = nullptr);

    // The next block, empty at the end.  Events and their words are valid until the next call.
    std::span<const Event> next_block();
    // Instead of next_block(), without a plan, and of a format with records in place: the next
    // payload, null at the end.  The caller reads all its records, from `at` to `end`, and notes in
    // the cursor what it found.  `ahead`: sets `ahead_bytes`, for the caller to prefetch there, if
    // that is faster; a thread uses the same one for all streams that it reads.  Null: does not,
    // as if many threads run, since the mappings of each interrupt the CPUs of all.
    RecordCursor *next_payload(FasterWay *ahead);
    // True if records of this CPU were lost, or chunks are missing, right before the last block.
    // What lies between two windows of a plan is not lost.
    bool is_after_loss() const { return is_after_loss_; }
    // Records of this CPU that were lost before the last block, since the recording began.
    uint64_t lost_so_far() const { return lost_before_; }
    // Records of all CPUs that were left out before it, because the recorder had paused.
    uint64_t left_out_so_far() const { return left_out_before_; }
    uint64_t offset() const { return offset_; }
    uint32_t cpu() const { return chunks_.cpu; }
    bool is_kernel() const { return chunks_.is_kernel; }
    const StreamFaults &faults() const { return faults_; }

private:
    bool find_chunk(Chunk &chunk);
    bool skip_to_window(Chunk &chunk);
    bool next_chunk();
    void finish_chunk();
    void look_ahead(FasterWay &way);
    bool pass_windows_before(uint64_t ticks);
    std::span<const Event> take_from_window();
    void check_order(uint64_t ticks_before, std::span<const Event> block);

    const TraceFile &trace_;
    DamageLog &damage_;
    const CpuChunks &chunks_;
    const ReadPlan *plan_;
    size_t window_ = 0;              // of the plan: the current or next one
    std::optional<Chunk> following_; // already found, if there is a plan
    std::span<const Event> rest_;    // of a block of several windows
    ChunkWalker walker_;
    Offsets::Reader offsets_;
    std::unique_ptr<LookAhead> look_ahead_; // of next_payload()
    double tried_since_ = 0;                // seconds
    size_t tried_bytes_ = 0;                // of a chunk that is a part of the trial; 0: it is none
    uint64_t offset_ = 0;                   // of the last chunk
    std::vector<uint64_t> payload_;
    std::vector<Event> events_;
    RecordCursor cursor_;
    uint32_t declared_records_ = 0;
    bool has_wrong_start_ = false; // the open chunk
    uint64_t next_sequence_ = 0;
    uint64_t lost_before_ = 0, left_out_before_ = 0;
    bool is_after_loss_ = false;
    bool is_chunk_open_ = false;
    bool has_begun_ = false; // with a plan: the first chunk was looked at
    StreamFaults faults_;
};
} // namespace nsdump
