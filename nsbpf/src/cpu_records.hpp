// SPDX-License-Identifier: MIT
// CPU records: the rings of one CPU, of several programs -> chunks of one stream whose times grow.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <utility>
#include <vector>

#include <nslice/file.h>

#include "chunk_pipe.hpp"
#include "clock_line.hpp"
#include "mapped_ring.hpp"

namespace nsbpf
{
class CpuRecords
{
public:
    // Receives the words of records that are written, in order of time.
    using Watch = std::function<void(const std::vector<uint64_t> &words)>;

    explicit CpuRecords(uint32_t cpu, Watch watch = nullptr) : cpu_(cpu), watch_(std::move(watch))
    {
    }
    CpuRecords(const CpuRecords &) = delete;
    CpuRecords &operator=(const CpuRecords &) = delete;
    CpuRecords(CpuRecords &&) = default;

    // The ring must live until remove() or longer than this.
    void add(MappedRing &ring);
    // Its records so far are kept, and count; incomplete ones are lost as torn.
    void remove(MappedRing &ring, const ClockLine &clock);
    // Drains what is complete, and writes what no earlier record can follow.  Returns the largest
    // share of a ring that was in use, and the bytes in the chunks.
    struct Passed {
        double most_used = 0;
        uint64_t bytes = 0;
    };
    Passed pass(ChunkPipe &pipe, const ClockLine &clock);
    // As pass(), and then all that has been drained.
    void flush(ChunkPipe &pipe, const ClockLine &clock);
    void end();
    // Records that are not complete: their writers are gone.
    void settle();
    uint64_t pending() const;
    nslice_file_footer_cpu row() const;
    // Records with a time that was raised to that of an earlier one in another ring.
    uint64_t late() const { return late_; }
    // Records that are not of the sites of the programs that wrote them; they are lost as torn.
    uint64_t foreign() const;

private:
    struct Source {
        MappedRing *ring; // null: removed
        std::deque<Piece> pieces = {};
        size_t at = 0;        // words of the first piece that are written
        uint64_t lost = 0;    // before the newest record written
        uint64_t watched = 0; // ticks before the head was read
        uint64_t moved = 0;   // the same, when it last had a record or none was incomplete
        uint64_t next() const { return pieces.front().words[at]; }
    };

    uint64_t take(Source &source, const ClockLine &clock, uint64_t most_queued);
    double drain(Source &source, const ClockLine &clock);
    uint64_t bound(const Source &source, const ClockLine &clock) const;
    void write_until(ChunkPipe &pipe, uint64_t ticks);
    void append(ChunkPipe &pipe, Source &source);
    void begin_piece(ChunkPipe &pipe, Source &source);
    void write_chunk(ChunkPipe &pipe);

    uint32_t cpu_;
    Watch watch_;
    std::list<Source> sources_;
    uint64_t queued_words_ = 0;
    std::vector<uint64_t> chunk_;
    uint32_t chunk_records_ = 0;
    uint64_t chunk_lost_before_ = 0, bytes_ = 0;
    uint64_t last_ticks_ = 0, late_ = 0;
    uint64_t lost_ = 0, lost_write_ = 0, chunks_ = 0;
    nslice_file_footer_cpu removed_ = {}; // sums
    uint64_t removed_foreign_ = 0;
};
} // namespace nsbpf
