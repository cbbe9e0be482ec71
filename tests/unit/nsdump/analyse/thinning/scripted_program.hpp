// SPDX-License-Identifier: MIT
// A scripted program of which all work and costs are known -> a trace with epochs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyse/analyse.hpp"
#include "nsdump_support.hpp"

namespace test_support
{
inline constexpr uint64_t kEpoch = 1'000'000;

// A pair costs 60, of which a slice contains 40; a mark 30; work is exact, so all is known.
struct Program : TraceBuilder {
    uint16_t outer = 0, inner = 0, other = 0, mark_id = 0;
    uint64_t now = 10;
    uint64_t epochs = 0;
    std::vector<uint16_t> off;

    explicit Program(const std::string &counters = "", double calibrated_inner = 40,
                     double calibrated_outer = 50, double ci95 = 1, double hidden = 0)
    {
        info(plain_info(1e9, counters));
        std::vector<nslice_calibration_entry> entries = {
            entry(NSLICE_KIND_START, 0, calibrated_inner, calibrated_outer, ci95),
            entry(NSLICE_KIND_MARK, 0, 0, 30, 1)};
        if (hidden > 0) // of outer; less than half of it in the gap
            entries.push_back(entry(NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0,
                                    calibrated_inner + 0.6 * hidden, calibrated_outer + hidden));
        if (!counters.empty())
            entries.push_back(entry(NSLICE_KIND_START, 1, 10, 30));
        calibration(NSLICE_CALIBRATION_START, 1, 1, entries);
        outer = site("outer");
        inner = site("inner");
        other = site("other");
        mark_id = site("mark", NSLICE_KIND_MARK);
    }
    void begin_epoch(const std::vector<uint16_t> &ids)
    {
        off = ids;
        now = ++epochs * kEpoch;
        epoch(now, now + kEpoch - 100, off);
    }
    bool is_on(uint16_t id) const { return std::find(off.begin(), off.end(), id) == off.end(); }
    void begin(uint16_t id, const Words &words = {})
    {
        if (!is_on(id))
            return;
        now += 10;
        start(0, 1, id, now, words);
        now += 20;
    }
    void end(uint16_t id, const Words &words = {})
    {
        if (!is_on(id))
            return;
        now += 20;
        stop(0, 1, id, now, words);
        now += 10;
    }
    // 100 ticks of work around `pairs` slices of 50 ticks.
    void run(const std::vector<uint16_t> &inside)
    {
        now += 500;
        begin(outer);
        now += 100;
        for (const uint16_t id : inside) {
            begin(id);
            now += 50;
            end(id);
        }
        end(outer);
    }
    nsdump::StatsReport report(const nsdump::AnalyseOptions &options = {})
    {
        footer(NSLICE_END_CLOSED, now + kEpoch, now + kEpoch);
        nsdump::TraceFile file(source_of(bytes()));
        return nsdump::analyse_trace(file, options);
    }
};

inline const nsdump::SliceReport &slice_of(const nsdump::StatsReport &report,
                                           const std::string &name)
{
    for (const nsdump::SliceReport &slice : report.slices)
        if (slice.name == name)
            return slice;
    throw std::runtime_error("no slice " + name);
}
} // namespace test_support
