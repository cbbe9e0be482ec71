// SPDX-License-Identifier: MIT
// CPU records: each ring is in order of time; several are merged.
#include "cpu_records.hpp"

#include <algorithm>
#include <limits>

namespace nsbpf
{
namespace
{
constexpr size_t kChunkWords = NSLICE_MAX_PAYLOAD_BYTES / NSLICE_WORD_BYTES;
constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
// A program may be interrupted between its clock read and its claim of a place.  Records wait as
// long, if another ring could get an earlier one.
constexpr double kPatienceNs = 1e6;
// Others do not wait longer for a record that is not completed: its program has overwritten the
// ring, or its thread has been off the CPU since.
constexpr double kMostBlockedNs = 1e9;
// Words that wait in memory; beyond that the rings fill, and count what they lose.
constexpr uint64_t kMostQueued = 1 << 23;

void add_to(nslice_file_footer_cpu &sum, const nslice_file_footer_cpu &row)
{
    sum.issued += row.issued;
    sum.drained += row.drained;
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        sum.lost[cause] += row.lost[cause];
}
} // namespace

void CpuRecords::add(MappedRing &ring)
{
    sources_.push_back({&ring});
    sources_.back().moved = read_ticks();
}

// All that is complete is taken, even beyond what else may wait: it is a ring's bytes at most.
void CpuRecords::remove(MappedRing &ring, const ClockLine &clock)
{
    for (Source &source : sources_) {
        if (source.ring != &ring)
            continue;
        ring.end();
        take(source, clock, std::numeric_limits<uint64_t>::max());
        ring.settle();
        add_to(removed_, ring.row());
        removed_foreign_ += ring.foreign();
        source.ring = nullptr;
    }
}

// Until so many words wait.  Returns how many it has taken.
uint64_t CpuRecords::take(Source &source, const ClockLine &clock, uint64_t most_queued)
{
    uint64_t words = 0;
    Piece piece;
    while (queued_words_ < most_queued && source.ring->take(clock, piece)) {
        words += piece.words.size();
        queued_words_ += piece.words.size();
        if (!piece.words.empty()) // the ring may have dropped all
            source.pieces.push_back(std::move(piece));
        piece = {};
    }
    return words;
}

// Returns the share of the ring that was in use.
double CpuRecords::drain(Source &source, const ClockLine &clock)
{
    source.watched = read_ticks();
    source.ring->watch();
    const uint64_t words = take(source, clock, kMostQueued);
    if (words > 0 || source.ring->pending() == 0)
        source.moved = source.watched;
    return double(words * NSLICE_WORD_BYTES) / double(source.ring->data_bytes());
}

// No record to come from this ring is earlier.
uint64_t CpuRecords::bound(const Source &source, const ClockLine &clock) const
{
    if (!source.ring)
        return kAll;
    const auto most_blocked = uint64_t(kMostBlockedNs * clock.ticks_per_ns());
    if (source.ring->pending() > 0 && source.watched - source.moved < most_blocked)
        return source.ring->last_ticks();
    const auto patience = uint64_t(kPatienceNs * clock.ticks_per_ns());
    return std::max(source.ring->last_ticks(),
                    source.watched > patience ? source.watched - patience : 0);
}

CpuRecords::Passed CpuRecords::pass(ChunkPipe &pipe, const ClockLine &clock)
{
    Passed passed;
    bytes_ = 0;
    uint64_t limit = kAll;
    for (Source &source : sources_) {
        if (source.ring)
            passed.most_used = std::max(passed.most_used, drain(source, clock));
    }
    if (sources_.size() > 1) {
        for (const Source &source : sources_)
            limit = std::min(limit, bound(source, clock));
    }
    write_until(pipe, limit);
    passed.bytes = bytes_;
    return passed;
}

void CpuRecords::flush(ChunkPipe &pipe, const ClockLine &clock)
{
    pass(pipe, clock);
    write_until(pipe, kAll);
}

// The ring that is next is asked again only after a record that another one may precede.
void CpuRecords::write_until(ChunkPipe &pipe, uint64_t ticks)
{
    for (;;) {
        Source *first = nullptr;
        uint64_t other = kAll;
        for (Source &source : sources_) {
            if (source.pieces.empty())
                continue;
            if (!first || source.next() < first->next()) {
                other = first ? first->next() : kAll;
                first = &source;
            } else {
                other = std::min(other, source.next());
            }
        }
        if (!first || first->next() > ticks)
            break;
        while (!first->pieces.empty() && first->next() <= std::min(ticks, other))
            append(pipe, *first);
    }
    write_chunk(pipe);
    std::erase_if(sources_,
                  [](const Source &source) { return !source.ring && source.pieces.empty(); });
}

// A chunk begins where records of this ring were lost.
void CpuRecords::begin_piece(ChunkPipe &pipe, Source &source)
{
    const uint64_t lost = source.pieces.front().lost_before;
    if (lost == source.lost)
        return;
    write_chunk(pipe);
    lost_ += lost - source.lost;
    source.lost = lost;
}

// One record.
void CpuRecords::append(ChunkPipe &pipe, Source &source)
{
    if (source.at == 0)
        begin_piece(pipe, source);
    std::vector<uint64_t> &words = source.pieces.front().words;
    const size_t left = words.size() - source.at;
    const size_t count = std::min(left, size_t{NSLICE_RECORD_WORDS(words[source.at + 1])});
    if (chunk_.size() + count > kChunkWords)
        write_chunk(pipe);
    if (chunk_.empty())
        chunk_lost_before_ = lost_ + lost_write_;
    late_ += words[source.at] < last_ticks_;
    last_ticks_ = std::max(last_ticks_, words[source.at]);
    words[source.at] = last_ticks_;
    chunk_.insert(chunk_.end(), words.begin() + ptrdiff_t(source.at),
                  words.begin() + ptrdiff_t(source.at + count));
    ++chunk_records_;
    source.at += count;
    if (source.at + 1 >= words.size()) {
        queued_words_ -= words.size();
        source.pieces.pop_front();
        source.at = 0;
    }
}

void CpuRecords::write_chunk(ChunkPipe &pipe)
{
    if (chunk_.empty())
        return;
    if (watch_)
        watch_(chunk_);
    nslice_chunk_header header = {};
    header.kind = NSLICE_CHUNK_KERNEL_RECORDS;
    header.sequence = chunks_;
    header.cpu = cpu_;
    header.records = chunk_records_;
    header.lost_before = chunk_lost_before_;
    header.first_ticks = chunk_[0];
    const auto bytes = uint32_t(chunk_.size() * NSLICE_WORD_BYTES);
    if (pipe.write(header, chunk_.data(), bytes)) {
        ++chunks_;
        bytes_ += bytes;
    } else {
        lost_write_ += chunk_records_;
    }
    chunk_.clear();
    chunk_records_ = 0;
}

void CpuRecords::end()
{
    for (Source &source : sources_)
        if (source.ring)
            source.ring->end();
}

void CpuRecords::settle()
{
    for (Source &source : sources_)
        if (source.ring)
            source.ring->settle();
}

uint64_t CpuRecords::pending() const
{
    uint64_t sum = 0;
    for (const Source &source : sources_)
        sum += source.ring ? source.ring->pending() : 0;
    return sum;
}

uint64_t CpuRecords::foreign() const
{
    uint64_t sum = removed_foreign_;
    for (const Source &source : sources_)
        sum += source.ring ? source.ring->foreign() : 0;
    return sum;
}

nslice_file_footer_cpu CpuRecords::row() const
{
    nslice_file_footer_cpu row = removed_;
    row.cpu = cpu_;
    row.chunks = chunks_;
    for (const Source &source : sources_)
        if (source.ring)
            add_to(row, source.ring->row());
    row.drained -= lost_write_;
    row.lost[NSLICE_LOST_WRITE] += lost_write_;
    return row;
}
} // namespace nsbpf
