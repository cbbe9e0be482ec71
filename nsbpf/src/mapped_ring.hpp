// SPDX-License-Identifier: MIT
// Mapped ring: one CPU's ring in the map of the programs -> chunks of records.
#pragma once

#include <cstdint>
#include <vector>

#include <nslice/file.h>
#include <nslice/gaps.h>
#include <nslice/ring.h>

#include "chunk_pipe.hpp"
#include "clock_line.hpp"

namespace nsbpf
{
// One reader; the writers are programs on that CPU.
class MappedRing
{
public:
    // Maps the data twice in a row.  Throws Refusal.
    MappedRing(int map, uint32_t cpu, uint64_t data_bytes, uint64_t first_byte);
    ~MappedRing();
    MappedRing(const MappedRing &) = delete;
    MappedRing &operator=(const MappedRing &) = delete;

    // Reads the head: take() takes nothing behind it.
    void watch();
    // One chunk.  Returns its bytes; 0: nothing is complete, or the reader of the pipe is gone.
    uint64_t take(ChunkPipe &pipe, const ClockLine &clock);
    // The words of complete records, which are consumed without a chunk.
    std::vector<uint64_t> take_words();
    // Records that are not complete: their writers are gone.
    void settle();
    // Counts begin at 0: what was written before does not belong to the trace.
    void begin();
    // What is written from now on does not belong to it either, until begin().
    void end();
    nslice_file_footer_cpu row() const;
    uint64_t pending() const { return NSLICE_POSITION_RECORDS(head_ - tail_); }

private:
    uint64_t lost(int cause) const;
    uint64_t refused() const;
    const uint64_t *data_at(uint64_t position) const;
    void consume(uint32_t words, uint32_t records);

    uint32_t cpu_;
    uint64_t data_bytes_;
    void *memory_ = nullptr;
    nslice_ring_meta *ring_ = nullptr;
    uint64_t tail_ = 0, head_ = 0;
    uint64_t committed_ = 0, drained_ = 0, lost_torn_ = 0, lost_write_ = 0, chunks_ = 0;
    uint64_t lost_earlier_[NSLICE_LOST_CAUSES] = {}, lost_at_end_[NSLICE_LOST_CAUSES] = {};
    bool has_ended_ = false;
    uint64_t last_ticks_ = 0;
    nslice_gaps gaps_ = {};
    std::vector<uint64_t> copy_;
};
} // namespace nsbpf
