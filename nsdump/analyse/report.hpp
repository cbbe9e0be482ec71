// SPDX-License-Identifier: MIT
// analyse: the whole answer about one trace, the C++ form of schema netslice-stats-1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/correct/correction.hpp"
#include "analyse/statistics/histogram.hpp"
#include "analyse/losses.hpp"
#include "decode/clock.hpp"
#include "decode/cpu_stream.hpp"

namespace nsdump
{
// Cut off at either end for the trimmed mean; told wherever it is shown.
inline constexpr double kTrimmedShare = 0.05;

struct Distribution {
    double mean = 0;
    double sd = 0;
    double min = 0;
    double max = 0;
    double p50 = 0;
    double p90 = 0;
    double p99 = 0;
    double p999 = 0;
    double total = 0;
    std::optional<double> ci95; // net only: half width for the mean; none for one value
    // Mean without the kTrimmedShare at either end: what interrupts and a stolen CPU leave alone.
    double trimmed_mean = 0;
    std::optional<double> trimmed_ci95; // net only
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
};

struct FieldReport {
    std::string field; // "ticks" or the counter's name
    std::string unit;  // "TSC cycles", "instructions", ...
    std::uint64_t count = 0;
    std::uint64_t packets = 0;
    Distribution raw;
    std::optional<Distribution> net; // none without constants
    std::optional<SelfValue> self;   // none when a slice inside lacks the field
    std::optional<PerPacket> per_packet;
    std::vector<Bucket> histogram; // of net, of raw without constants
};

struct SliceReport {
    std::string name;
    std::string file;
    std::uint32_t line = 0;
    std::uint64_t count = 0;
    std::uint64_t migrated = 0;
    std::uint64_t spans_loss = 0;
    std::uint64_t unmatched_start = 0;
    std::uint64_t unmatched_stop = 0;
    std::uint64_t too_deep = 0;
    std::uint64_t below_noise = 0;
    std::uint64_t stepped = 0; // single-stepped: counted, but not timed
    bool is_kernel = false;
    std::uint64_t interrupted = 0;
    std::uint64_t interrupts = 0; // in those, as the kernel's records tell; taken out of net ticks
    std::uint64_t switches = 0;   // the same of the times that the thread was put aside
    double taken_ticks = 0;       // for both, and for the kernel's probes
    std::uint64_t uncounted = 0; // timed, but without counters that the session has
    std::uint64_t crossed = 0;   // with another slice of the thread: neither lies in the other
    std::uint64_t packets = 0;
    bool is_incomplete = false; // its figures may be wrong: StatsReport::incomplete
    std::vector<FieldReport> values;
};

struct UnitReport {
    bool is_kernel = false;
    std::string name;
    std::uint64_t units = 0;
    std::uint64_t packets = 0;
    std::uint64_t wire_bytes = 0;
    bool is_incomplete = false;
};

struct MarkReport {
    bool is_kernel = false;
    std::string name;
    std::uint64_t count = 0;
    double mean = 0;
    std::uint64_t min = 0;
    std::uint64_t max = 0;
    double sum = 0;
    bool is_incomplete = false;
};

struct Classes {
    std::uint64_t interrupted = 0;
    std::uint64_t uncounted = 0;
    std::uint64_t uncounted_kernel = 0; // of them the kernel's
    std::uint64_t migrated = 0;
    std::uint64_t spans_loss = 0;
    std::uint64_t crossed = 0;
    std::uint64_t unmatched_start = 0;
    std::uint64_t unmatched_stop = 0;
    std::uint64_t too_deep = 0;
    std::uint64_t below_noise = 0;
    std::uint64_t unknown_kind = 0;
    std::uint64_t malformed = 0; // events without the words of their kind
};

// Before such of StatsReport::warnings as say why figures are incomplete.
inline constexpr const char *kIncompletePrefix = "incomplete: ";

struct StatsReport {
    std::string path;
    std::uint64_t bytes = 0;
    std::uint32_t format_version = 0;
    std::string session_uuid;
    std::string end; // closed, interrupted, killed, write-error, missing
    Info info;
    Clock clock;
    std::string counter_source;
    std::vector<std::string> counter_names;
    std::vector<std::string> kernel_counter_names;
    Losses losses;
    std::uint64_t records = 0; // decoded
    std::uint64_t damaged_bytes = 0;
    std::uint64_t damaged_chunks = 0;
    std::uint64_t missing_chunks = 0;
    std::vector<Damage> damage;
    std::vector<CalibrationRow> calibration_start;
    std::vector<CalibrationRow> calibration_end;
    std::vector<CalibrationRow> calibration_kernel;
    std::vector<CalibrationRow> calibration_kernel_end;
    std::vector<Drift> drift;
    std::vector<UnitReport> units;
    std::vector<SliceReport> slices; // in order of first appearance, the programs' before the kernel's
    std::vector<MarkReport> marks;
    Classes classes;
    std::vector<std::string> incomplete; // what is missing or damaged that figures depend on
    std::vector<std::string> warnings;
    bool is_interrupted = false; // stopped before the trace's end; all above is about the part read

    // Damage, something missing or a broken loss equation: the answer is not about the whole truth.
    bool has_findings() const;
};

// 0: ticks, n: counter n - 1 of a side.
std::string field_name(unsigned field, const std::vector<std::string> &counters);
} // namespace nsdump
