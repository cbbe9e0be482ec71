// SPDX-License-Identifier: MIT
// analyse: the complete report on one trace, the C++ form of schema netslice-stats-1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/correct/correction.hpp"
#include "analyse/losses.hpp"
#include "analyse/pauses.hpp"
#include "analyse/statistics/histogram.hpp"
#include "analyse/thinning/result.hpp"
#include "decode/clock.hpp"
#include "decode/cpu_stream.hpp"

namespace nsdump
{
// Share cut off at either end for the trimmed mean.
inline constexpr double kTrimmedShare = 0.05;

struct Distribution {
    double mean = 0;
    double sd = 0;
    double min = 0;
    double max = 0;
    // None if the values are too few to resolve it: with fewer than 1 / (1 - q) of them, the
    // quantile q is their maximum.
    std::optional<double> p50;
    std::optional<double> p90;
    std::optional<double> p99;
    std::optional<double> p999;
    double total = 0;
    std::optional<double> ci95; // net only: half width for the mean; none for a single value
    // Mean without kTrimmedShare at either end: not affected by interrupts or a stolen CPU.
    double trimmed_mean = 0;
    std::optional<double> trimmed_ci95;  // net only
    std::optional<double> sampling_ci95; // net only: part of ci95 that is due to the slices' spread
};

struct SelfValue {
    double mean = 0;
    double total = 0;
    std::optional<double> ci95;
};

struct PerPacket {
    double raw = 0;
    std::optional<double> net;
    std::optional<double> net_ci95;
    std::optional<double> self;
    std::optional<double> self_ci95;
    double raw_trimmed = 0;
    std::optional<double> net_trimmed;
    std::optional<double> net_trimmed_ci95;
    std::optional<double> net_sampling_ci95; // part of net_ci95
    double slices = 0;                       // per packet
};

struct FieldReport {
    std::string field; // "ticks" or the counter's name
    std::string unit;  // "TSC cycles", "instructions", ...
    uint64_t count = 0;
    uint64_t packets = 0;
    Distribution raw;
    std::optional<Distribution> net; // none without constants
    std::optional<SelfValue> self;   // none if a slice inside lacks the field
    std::optional<PerPacket> per_packet;
    std::vector<Bucket> histogram; // of net; of raw if there are no constants
};

struct SliceReport {
    std::string name;
    std::string file;
    uint32_t line = 0;
    uint64_t count = 0;
    uint64_t migrated = 0;
    uint64_t spans_loss = 0;
    uint64_t unmatched_start = 0;
    uint64_t unmatched_stop = 0;
    uint64_t too_deep = 0;
    uint64_t below_noise = 0;
    uint64_t stepped = 0; // single-stepped: counted, but not timed
    bool is_kernel = false;
    uint8_t way = 0; // Name::way: by uprobes or sleds instead of macros
    uint64_t interrupted = 0;
    uint64_t interrupts = 0; // in those, from the kernel's records; subtracted from net ticks
    uint64_t switches = 0;   // the same for the times that the thread was preempted or waited
    double taken_ticks = 0;  // subtracted for both, and for the kernel's probes
    uint64_t uncounted = 0;  // timed, but without the session's counters
    uint64_t crossed = 0;    // overlap another slice of the thread without nesting
    uint64_t packets = 0;
    bool is_incomplete = false;            // its figures may be wrong: StatsReport::incomplete
    std::optional<SliceThinning> thinning; // none if the trace has no epochs
    std::vector<FieldReport> values;
};

struct UnitReport {
    bool is_kernel = false;
    std::string name;
    uint64_t units = 0;
    uint64_t packets = 0;
    uint64_t wire_bytes = 0;
    bool is_incomplete = false;
};

struct MarkReport {
    bool is_kernel = false;
    std::string name;
    uint64_t count = 0;
    double mean = 0;
    uint64_t min = 0;
    uint64_t max = 0;
    double sum = 0;
    bool is_incomplete = false;
};

struct Classes {
    uint64_t interrupted = 0;
    uint64_t uncounted = 0;
    uint64_t uncounted_kernel = 0; // those of the kernel among them
    uint64_t migrated = 0;
    uint64_t spans_loss = 0;
    uint64_t crossed = 0;
    uint64_t unmatched_start = 0;
    uint64_t unmatched_stop = 0;
    uint64_t too_deep = 0;
    uint64_t below_noise = 0;
    uint64_t unknown_kind = 0;
    uint64_t malformed = 0; // events without the words of their kind
};

// Prefix of those StatsReport::warnings that say why figures are incomplete.
inline constexpr const char *kIncompletePrefix = "incomplete: ";

// The part of the recording that a report is of, in nanoseconds since its start.
struct ReportRange {
    std::optional<double> from_ns; // none: from its start
    std::optional<double> to_ns;   // none: to its end
};

struct StatsReport {
    std::string path;
    std::optional<ReportRange> range; // none: all of it
    uint64_t bytes = 0;
    uint32_t format_version = 0;
    std::string session_uuid;
    std::string end; // closed, interrupted, killed, write-error, missing
    Info info;
    Clock clock;
    std::string counter_source;
    std::vector<std::string> counter_names;
    std::vector<std::string> kernel_counter_names;
    Losses losses;
    Pauses pauses;
    uint64_t records = 0; // decoded; with a range, those in it
    uint64_t damaged_bytes = 0;
    uint64_t damaged_chunks = 0;
    uint64_t missing_chunks = 0;
    std::vector<Damage> damage;
    std::vector<CalibrationRow> calibration_start;
    std::vector<CalibrationRow> calibration_end;
    std::vector<CalibrationRow> calibration_kernel;
    std::vector<CalibrationRow> calibration_kernel_end;
    std::vector<Drift> drift;
    std::vector<UnitReport> units;
    std::vector<SliceReport>
        slices; // in order of first appearance, the programs' before the kernel's
    std::vector<MarkReport> marks;
    Classes classes;
    std::optional<ThinningReport> thinning;         // none if the trace has no epochs
    std::optional<ThinningReport> program_thinning; // the same of BPF programs
    std::vector<std::string> incomplete; // missing or damaged parts that figures depend on
    std::vector<std::string> warnings;
    bool is_interrupted = false; // stopped before the trace's end; the report covers the part read

    // Damage, missing parts or a broken loss equation: the report does not cover the whole
    // recording.
    bool has_findings() const;
};

// Field 0 is ticks, field n is counter n - 1 of a side.
std::string field_name(unsigned field, const std::vector<std::string> &counters);
} // namespace nsdump
