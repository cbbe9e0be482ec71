// SPDX-License-Identifier: MIT
// live: parts of a trace that is still being written -> the report of each interval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyse/correct/correction.hpp"
#include "analyse/pair/pair.hpp"
#include "analyse/report.hpp"
#include "analyse/statistics/stats.hpp"
#include "decode/file_reader.hpp"

namespace nsdump
{
struct LiveInterval {
    // Of the slices that ended in the interval.  Events without partner are counted since the
    // beginning, since it is not known when they were lost.  Without losses, drift and damage.
    StatsReport report;
    std::optional<double> pair_ticks; // that a START and a STOP cost the program
    uint64_t unread_records = 0;      // in damaged chunks, malformed, or of a CPU that is not there
};

// Slices of programs, without the kernel and without random thinning.  A thread that moves to
// another CPU while the drain looks from one ring to the next may appear on the second before the
// first; such a slice is counted as two events without partner.
class LiveTrace
{
public:
    // `cpus`: above the highest number of a CPU.
    explicit LiveTrace(uint32_t cpus);
    ~LiveTrace();
    LiveTrace(const LiveTrace &) = delete;
    LiveTrace &operator=(const LiveTrace &) = delete;

    // The trace's header and the chunks that follow those of the last part.  Throws TraceError.
    void take(std::vector<std::byte> part);
    // What there was since the last call.
    LiveInterval end_interval();

private:
    // Where the records of a CPU continue.
    struct Continuation {
        uint64_t sequence = 0;
        uint64_t lost_before = 0;
        bool is_after_loss = false; // of the part's first run
        bool is_first_run = false;
    };
    // Passes on to the collector of the interval.
    struct IntervalSink {
        std::unique_ptr<StatsCollector> statistics;

        void slice(const Slice &slice) { statistics->slice(slice); }
        bool plain(const PlainSlice &slice) { return statistics->plain(slice); }
        bool leaves(const LeavesSlice &slice) { return statistics->leaves(slice); }
        bool is_spread() const { return statistics->is_spread(); }
        void expect(NameId name) const { statistics->expect(name); }
        void unit(const Unit &unit) { statistics->unit(unit); }
        void mark(NameId name, uint64_t value) { statistics->mark(name, value); }
    };

    static_assert(TakesPlainSlices<IntervalSink>);

    void take_metadata(TraceFile &part);
    void take_records(TraceFile &part);
    void follow(TraceFile &part);
    void refresh_context();
    void begin();
    void begin_interval();
    std::optional<double> pair_ticks() const;

    uint32_t cpus_;
    std::vector<std::byte> metadata_;    // header and chunks so far, except records
    bool has_news_ = false;              // since context_ was made
    std::unique_ptr<TraceFile> context_; // metadata_, with a place for every CPU
    std::unique_ptr<Correction> correction_;
    NameTable names_;
    IntervalSink sink_;
    std::unique_ptr<Pairer<IntervalSink>> pairs_;
    std::vector<Continuation> places_; // by CPU
    uint64_t left_out_ = 0;            // records of all CPUs, in pauses
    uint64_t records_ = 0, unread_ = 0;
};
} // namespace nsdump
