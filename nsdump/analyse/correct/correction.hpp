// SPDX-License-Identifier: MIT
// analyse: the calibrations of a trace (or calibration.json) -> the constants to subtract on each
// CPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/correct/calibration.hpp"
#include "analyse/correct/calibration_rows.hpp"
#include "analyse/correct/drift.hpp"
#include "analyse/correct/student.hpp"
#include "decode/file_reader.hpp"

namespace nsdump
{
std::optional<unsigned> probe_of_kind(unsigned kind); // none for STOP and unknown kinds
// As probe_of_kind() for an entry's kind, which may have the bits of a way.
std::optional<unsigned> probe_of_entry(unsigned kind, bool is_kernel);
const char *
probe_name(unsigned probe); // START (the pair START + STOP), MARK, INIT, EXIT, CALL, BEHIND

constexpr std::array<double, kProbes> many_degrees()
{
    std::array<double, kProbes> degrees{};
    degrees.fill(kManyDegrees);
    return degrees;
}

// Constants of one CPU and one field (0: ticks, n: counter n - 1).
struct FieldConstants {
    bool is_known = false; // START + STOP was calibrated; otherwise there is no net value
    double inner = 0;
    double inner_ci95 = 0;
    std::array<double, kProbes> outer{};
    std::array<double, kProbes> outer_ci95{};
    std::array<double, kProbes> degrees = many_degrees(); // of the intervals
    // How far the constant may be from this value: it moved between start and end of the session,
    // or the probe overlapped with less of the program's work than in calibration.
    double inner_bound = 0;
    std::array<double, kProbes> outer_bound{};
    uint32_t source = 0; // CPUs with the same source share constants and their errors
};

// Constants of a pair that is not recorded by macros.
struct WayConstants {
    bool is_known = false;
    double inner = 0, inner_ci95 = 0, inner_bound = 0;
    double outer = 0, outer_ci95 = 0, outer_bound = 0;
    double degrees = kManyDegrees;
};
struct WayTable {
    std::array<WayConstants, kWays> ways;
    uint32_t source = 0; // as in FieldConstants; of another number range
};

// What a pair costs outside of its own slice, in ticks: outer minus inner.
struct GapConstant {
    double value = 0;
    double ci95 = 0;
    double degrees = kManyDegrees;
    double bound = 0;
};

// It depends on what precedes START, which work hides in part.
struct GapConstants {
    GapConstant after_work;
    GapConstant after_probe; // the previous record's probe is right before it
    // At the end of the session at which it was less; without a bound, as the program's own
    // distances show how much more it is there.
    GapConstant least_after_probe;
    // As after_probe, and that probe's read has overtaken as much work as it can, if that is more
    // than work hides of a pair; otherwise as after_probe.
    GapConstant after_overtaking;

    bool is_overtaking() const { return after_overtaking.value > after_probe.value; }
};

class Correction
{
public:
    // `extra`, if given, replaces the calibrations of the trace.
    explicit Correction(const TraceFile &trace, const CalibrationFile *extra = nullptr);

    const FieldConstants &of(size_t cpu_index, size_t field) const
    {
        return table_[cpu_index * fields_ + field];
    }
    const WayTable &ways_of(size_t cpu_index, size_t field) const
    {
        return ways_[cpu_index * fields_ + field];
    }
    const GapConstants &gaps_of(size_t cpu_index) const { return gaps_[cpu_index]; }
    size_t cpus() const { return gaps_.size(); }
    size_t fields() const { return fields_; }
    bool has_constants() const;
    const std::vector<CalibrationRow> &start() const { return start_.all(); }
    const std::vector<CalibrationRow> &end() const { return end_.all(); }
    // Calibrations of the kernel's probes, used for the kernel's rings.
    const std::vector<CalibrationRow> &kernel_start() const { return kernel_start_.all(); }
    const std::vector<CalibrationRow> &kernel_end() const { return kernel_end_.all(); }
    const std::vector<Drift> &drift() const { return drift_; }
    const std::vector<std::string> &warnings() const { return warnings_; }

private:
    void take_trace(const TraceFile &trace);
    void take_file(const TraceFile &trace, const CalibrationFile &file);
    void warn_of(const TraceFile &trace, const CalibrationFile &file);
    void build(const std::vector<CpuChunks> &cpus);
    void warn_of_kernel(const std::vector<CpuChunks> &cpus);
    void build_side(const std::vector<CpuChunks> &cpus, bool is_kernel);
    void build_ways(const std::vector<CpuChunks> &cpus);
    static GapConstants gaps_of(const ProbeConstants &pair);
    void set_constants(FieldConstants &constants, bool is_kernel, uint32_t cpu, unsigned field);

    size_t fields_; // of the side with more fields
    std::vector<FieldConstants> table_;
    std::vector<WayTable> ways_;
    std::vector<GapConstants> gaps_; // by place in TraceFile::cpus()
    CalibrationRows start_;
    CalibrationRows end_;
    CalibrationRows kernel_start_;
    CalibrationRows kernel_end_;
    uint64_t disturbed_ = 0; // CPUs on which START + STOP has an impossible negative cost
    std::vector<Drift> drift_;
    std::vector<std::string> warnings_;
};
} // namespace nsdump
