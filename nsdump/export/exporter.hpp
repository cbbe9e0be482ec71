// SPDX-License-Identifier: MIT
// export: events, slices or a report -> text in one of the formats; declares all exporters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/pair/pair.hpp"
#include "analyse/report.hpp"
#include "decode/event.hpp"

namespace nsdump
{
enum class RowFormat { csv, json };

// Whole reports.
std::string stats_json(const StatsReport &report); // schema netslice-stats-1
std::string stats_csv(const StatsReport &report);  // one row for each slice and field
std::string stats_text(const StatsReport &report); // tables for people

// How the net value of a slice is computed; the report has to be one of AnalyseOptions::explains.
std::string explain_text(const SliceReport &slice);
std::string explain_json(const SliceReport &slice);

// Streams: each call appends whole lines to `out`, which the caller empties from time to time.
class EventRows
{
public:
    EventRows(RowFormat format, NameTable &names);
    void header(std::string &out) const;
    void row(const Event &event, std::string &out);

private:
    const std::string &name_text(uint16_t slice_id);

    RowFormat format_;
    NameTable &names_;
    std::vector<std::string> texts_; // by name, escaped for the format
};

// Every row has columns for the counters of both sides; a slice fills those of its own side.
struct SliceCounters {
    const std::vector<std::string> &programs;
    const std::vector<std::string> &kernel;
};

class SliceRows
{
public:
    SliceRows(RowFormat format, NameTable &names, const std::vector<CpuChunks> &cpus,
              const Correction &correction, const SliceCounters &counters);
    void header(std::string &out) const;
    void row(const Slice &slice, std::string &out);

private:
    void csv_row(const Slice &slice, std::string &out);
    void json_row(const Slice &slice, std::string &out);
    bool is_kernel(const Slice &slice) const { return cpus_[slice.cpu_index].is_kernel; }
    const std::string &name_text(NameId name);

    RowFormat format_;
    NameTable &names_;
    const std::vector<CpuChunks> &cpus_;
    const Correction &correction_;
    std::vector<std::string> columns_; // of programs' counters, then of the kernel's
    size_t program_counters_;
    std::vector<std::string> texts_;
};
} // namespace nsdump
