// SPDX-License-Identifier: MIT
// Mapped ring: one CPU's ring in the map of the programs -> complete records, with their times in
// ticks; what was issued and lost.
#pragma once

#include <cstdint>
#include <vector>

#include <nslice/file.h>
#include <nslice/gaps.h>
#include <nslice/ring.h>

#include "clock_line.hpp"
#include "own_sites.hpp"

namespace nsbpf
{
// Records that follow each other; those lost before the first of them, since begin().
struct Piece {
    std::vector<uint64_t> words;
    uint32_t records = 0;
    uint64_t lost_before = 0;
};

// One reader; the writers are programs on that CPU.
class MappedRing
{
public:
    // Maps the data twice in a row.  Throws Refusal.
    MappedRing(int map, uint32_t cpu, uint64_t data_bytes, uint64_t first_byte);
    ~MappedRing();
    MappedRing(const MappedRing &) = delete;
    MappedRing &operator=(const MappedRing &) = delete;

    // The writers are programs of others, which may write anything: what is not a record of their
    // own sites is lost as torn and counted as foreign, and no time is later than now.  The sites
    // must outlive this.
    void expect(const OwnSites &own) { own_ = &own; }
    uint64_t foreign() const { return foreign_; }
    // Reads the head: take() takes nothing behind it.
    void watch();
    // Consumes at most what fits into a chunk; false: nothing is complete.
    bool take(const ClockLine &clock, Piece &piece);
    // The words of complete records, which are consumed as they are.
    std::vector<uint64_t> take_words();
    // Records that are not complete: their writers are gone.
    void settle();
    // Counts begin at 0: what was written before does not belong to the trace.
    void begin();
    // What is written from now on does not belong to it either, until begin().
    void end();
    // Without chunks and what could not be written.
    nslice_file_footer_cpu row() const;
    uint64_t pending() const { return NSLICE_POSITION_RECORDS(head_ - tail_); }
    // Something has been written to it at any time.
    bool was_used() const { return __atomic_load_n(&ring_->head, __ATOMIC_ACQUIRE) != 0; }
    // A writer is in the middle of a record.
    bool has_incomplete();
    // Of the newest record taken; later ones of this ring are not earlier.
    uint64_t last_ticks() const { return last_ticks_; }
    // Its positions are impossible: a program has overwritten them.  Nothing more is taken.
    bool is_malformed() const { return is_malformed_; }
    uint64_t data_bytes() const { return data_bytes_; }
    nslice_ring_meta *meta() { return ring_; }

private:
    uint64_t lost(int cause) const;
    uint64_t refused() const;
    void drop_foreign(Piece &piece) const;
    const uint64_t *data_at(uint64_t position) const;
    void consume(uint32_t words, uint32_t records);

    uint32_t cpu_;
    uint64_t data_bytes_;
    void *memory_ = nullptr;
    nslice_ring_meta *ring_ = nullptr;
    uint64_t tail_ = 0, head_ = 0;
    uint64_t committed_ = 0, drained_ = 0, lost_torn_ = 0, foreign_ = 0;
    uint64_t lost_earlier_[NSLICE_LOST_CAUSES] = {}, lost_at_end_[NSLICE_LOST_CAUSES] = {};
    bool has_ended_ = false, is_malformed_ = false;
    const OwnSites *own_ = nullptr; // null: the recorder's own programs write
    uint64_t last_ticks_ = 0;
    nslice_gaps gaps_ = {};
};
} // namespace nsbpf
