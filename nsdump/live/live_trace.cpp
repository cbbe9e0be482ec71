// SPDX-License-Identifier: MIT
// live: parts of a trace that is still being written -> the report of each interval.
#include "live/live_trace.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <nslice/file.h>

#include "analyse/statistics/summarise.hpp"
#include "common/crc32c/crc32c.h"
#include "decode/chunk_walker.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
namespace
{
constexpr const char *kName = "live trace";

bool has_records(const Chunk &chunk)
{
    return chunk.header.kind == NSLICE_CHUNK_RECORDS ||
           chunk.header.kind == NSLICE_CHUNK_KERNEL_RECORDS;
}

void append(std::vector<std::byte> &bytes, const void *from, size_t count)
{
    const auto *const begin = static_cast<const std::byte *>(from);
    bytes.insert(bytes.end(), begin, begin + count);
}

// A chunk without records: the CPU has a place in TraceFile::cpus().
void append_place(std::vector<std::byte> &bytes, uint32_t cpu)
{
    nslice_chunk_header header{};
    header.magic = NSLICE_CHUNK_MAGIC;
    header.kind = NSLICE_CHUNK_RECORDS;
    header.header_bytes = sizeof header;
    header.payload_crc32c = nslice_crc32c(&header, 0);
    header.cpu = cpu;
    header.header_crc32c = nslice_crc32c(&header, offsetof(nslice_chunk_header, header_crc32c));
    append(bytes, &header, sizeof header);
}

uint64_t unread_records(const StreamFaults &faults)
{
    return faults.unknown_kind +
           (faults.declared > faults.decoded ? faults.declared - faults.decoded : 0);
}
} // namespace

LiveTrace::LiveTrace(uint32_t cpus) : cpus_(cpus), places_(cpus) {}
LiveTrace::~LiveTrace() = default;

void LiveTrace::take(std::vector<std::byte> part)
{
    TraceFile trace(bytes_in_memory(std::move(part), kName));
    take_metadata(trace);
    if (trace.cpus().empty())
        return;
    if (!pairs_)
        begin();
    follow(trace);
    take_records(trace);
}

// What is kept is bounded by the session's room for announcements, from which it comes.
void LiveTrace::take_metadata(TraceFile &part)
{
    const size_t header_bytes = part.header().header_bytes;
    if (metadata_.empty()) {
        metadata_.resize(header_bytes);
        part.source().read_at(0, metadata_.data(), header_bytes);
        has_news_ = true;
    }
    ChunkWalker walker(part.source(), part.format(), header_bytes, nullptr);
    std::vector<uint64_t> payload;
    for (Chunk chunk; walker.next(chunk);) {
        if (has_records(chunk) || !walker.read_payload(chunk, payload))
            continue;
        const size_t old_bytes = metadata_.size();
        metadata_.resize(old_bytes + part.format().chunk_header_bytes + chunk.header.payload_bytes);
        part.source().read_at(chunk.offset, metadata_.data() + old_bytes,
                              metadata_.size() - old_bytes);
        has_news_ = true;
        std::vector<Site> sites;
        if (chunk.header.kind == NSLICE_CHUNK_SITES && part.format().decode_sites(payload, sites))
            for (const Site &site : sites)
                names_.add(site);
    }
}

void LiveTrace::refresh_context()
{
    if (!has_news_)
        return;
    std::vector<std::byte> bytes = metadata_;
    for (uint32_t cpu = 0; cpu < cpus_; ++cpu)
        append_place(bytes, cpu);
    context_ = std::make_unique<TraceFile>(bytes_in_memory(std::move(bytes), kName));
    correction_ = std::make_unique<Correction>(*context_);
    has_news_ = false;
}

// What the records need, such as the number of counters, precedes them.
void LiveTrace::begin()
{
    begin_interval();
    pairs_ = std::make_unique<Pairer<IntervalSink>>(
        names_, PairSide{context_->counter_names().size(), cpus_, false, {}, {}, names_.has_ways()},
        sink_);
}

// The constants stay the same during an interval.
void LiveTrace::begin_interval()
{
    sink_.statistics.reset(); // refers to the old constants
    refresh_context();
    sink_.statistics =
        std::make_unique<StatsCollector>(*correction_, context_->counter_names().size(),
                                         context_->info("counters.source") == "step");
}

// The decoder sees each part alone, and takes its first chunk for one after a gap.
void LiveTrace::follow(TraceFile &part)
{
    ChunkWalker walker(part.source(), part.format(), 0, nullptr);
    for (const CpuChunks &chunks : part.cpus()) {
        uint64_t offset = 0;
        Chunk first;
        if (chunks.is_kernel || chunks.cpu >= cpus_ ||
            !Offsets::Reader(chunks.offsets).next(offset) || !walker.header_at(offset, first))
            continue;
        Continuation &place = places_[chunks.cpu];
        place.is_after_loss = first.header.sequence != place.sequence ||
                              first.header.lost_before != place.lost_before;
        place.is_first_run = true;
        place.sequence = chunks.next_sequence;
        place.lost_before = chunks.lost_before;
    }
}

void LiveTrace::take_records(TraceFile &part)
{
    Merger merger(part, Order::kThread);
    for (Run run; merger.next(run);) {
        const CpuChunks &chunks = part.cpus()[run.cpu_index];
        if (chunks.is_kernel || chunks.cpu >= cpus_) {
            unread_ += run.events.size();
            continue;
        }
        Continuation &place = places_[chunks.cpu];
        if (std::exchange(place.is_first_run, false))
            run.is_after_loss = place.is_after_loss;
        run.is_after_pause = run.left_out_before > left_out_;
        left_out_ = std::max(left_out_, run.left_out_before);
        run.cpu_index = chunks.cpu;
        records_ += run.events.size();
        pairs_->consume(run);
    }
    unread_ += unread_records(merger.faults());
}

std::optional<double> LiveTrace::pair_ticks() const
{
    double sum = 0;
    size_t known = 0;
    for (size_t cpu = 0; correction_ && cpu < correction_->cpus(); ++cpu)
        if (const FieldConstants &ticks = correction_->of(cpu, 0); ticks.is_known) {
            sum += ticks.outer[kPair];
            ++known;
        }
    return known > 0 ? std::optional(sum / double(known)) : std::nullopt;
}

LiveInterval LiveTrace::end_interval()
{
    LiveInterval interval;
    if (!pairs_)
        refresh_context();
    if (!context_)
        return interval;
    StatsReport &report = interval.report;
    report.info = context_->info();
    report.clock = clock_of(*context_);
    report.counter_names = context_->counter_names();
    report.counter_source = context_->info("counters.source");
    report.warnings = correction_->warnings();
    report.records = std::exchange(records_, 0);
    interval.pair_ticks = pair_ticks();
    interval.unread_records = std::exchange(unread_, 0);
    if (pairs_) {
        summarise(names_, pairs_->unpaired(), *sink_.statistics,
                  {false, report.counter_names, false}, report);
        begin_interval();
    }
    return interval;
}
} // namespace nsdump
