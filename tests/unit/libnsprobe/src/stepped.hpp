// SPDX-License-Identifier: MIT
// Corrected counts from a trace, by the equation of FORMAT.md and with the trace's own constants;
// independent of nsdump.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nsprobe/probe.h>

#include "support/probe_session.hpp"

namespace stepped
{
struct Constants {
    double inner = 0, outer[8] = {};
};

inline Constants constants(const test_support::Trace &trace)
{
    Constants found;
    for (const auto &calibration : trace.calibrations)
        for (const auto &entry : calibration.entries)
            if (entry.field == 1) {
                // Stepped counts are exact: every CPU and both phases must agree.
                if (found.outer[entry.kind] != 0)
                    REQUIRE(found.outer[entry.kind] == entry.outer);
                found.outer[entry.kind] = entry.outer;
                if (entry.kind == NSLICE_KIND_START)
                    found.inner = entry.inner;
            }
    REQUIRE(found.outer[NSLICE_KIND_START] > 0);
    return found;
}

// Net count of each slice by name (the last one with that name): raw - inner - what the probes
// inside it added.
inline std::map<std::string, double> net_counts(const test_support::Trace &trace)
{
    struct Open {
        uint64_t count;
        double inside;
    };
    const Constants cost = constants(trace);
    std::map<uint32_t, std::vector<test_support::Record>> threads;
    std::map<std::string, double> net;
    for (const auto &record : trace.records)
        threads[record.thread].push_back(record);
    for (auto &[thread, records] : threads) {
        std::vector<Open> open;
        std::stable_sort(records.begin(), records.end(),
                         [](auto &a, auto &b) { return a.ticks < b.ticks; });
        for (const auto &record : records) {
            const bool pair = record.kind == NSLICE_KIND_START || record.kind == NSLICE_KIND_STOP;
            if (!pair || record.words == 0)
                continue;
            if (record.kind == NSLICE_KIND_START) {
                open.push_back({record.word[0], 0});
                continue;
            }
            REQUIRE(!open.empty());
            const Open slice = open.back();
            open.pop_back();
            net[trace.name(record)] =
                double(record.word[0] - slice.count) - cost.inner - slice.inside;
            if (!open.empty())
                open.back().inside += slice.inside + cost.outer[NSLICE_KIND_START];
        }
    }
    return net;
}
} // namespace stepped
