// SPDX-License-Identifier: MIT
// export: events, slices or a report -> text in one of the formats; the list of all exporters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/pair.hpp"
#include "analyse/report.hpp"
#include "decode/event.hpp"

namespace nsdump
{
enum class RowFormat { csv, json };

// Whole reports.
std::string stats_json(const StatsReport &report); // schema netslice-stats-1
std::string stats_csv(const StatsReport &report);  // one row for each slice and field
std::string stats_text(const StatsReport &report); // tables for people

// Streams: each call appends whole lines to `out`, which the caller empties now and then.
class EventRows
{
public:
    EventRows(RowFormat format, NameTable &names);
    void header(std::string &out) const;
    void row(const Event &event, std::string &out);

private:
    const std::string &name_text(std::uint16_t slice_id);

    RowFormat format_;
    NameTable &names_;
    std::vector<std::string> texts_; // by name, escaped for the format
};

class SliceRows
{
public:
    SliceRows(RowFormat format, NameTable &names, const std::vector<CpuChunks> &cpus, const Correction &correction,
              const std::vector<std::string> &counter_names);
    void header(std::string &out) const;
    void row(const Slice &slice, std::string &out);

private:
    void csv_row(const Slice &slice, std::string &out);
    void json_row(const Slice &slice, std::string &out);
    const std::string &name_text(NameId name);

    RowFormat format_;
    NameTable &names_;
    const std::vector<CpuChunks> &cpus_;
    const Correction &correction_;
    const std::vector<std::string> &counter_names_;
    std::vector<std::string> texts_;
};
} // namespace nsdump
