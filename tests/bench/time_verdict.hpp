// SPDX-License-Identifier: MIT
// Many sessions' readings of a cell -> error of the corrected time, and how often its interval
// covers the true time.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "figure.hpp"
#include "time_session.hpp"

namespace bench
{
// The larger of a share of the bare time and an absolute time.
struct Tolerance {
    double share, ns;

    double of(double bare_ns) const { return std::max(share * bare_ns, ns); }
};

// What a clock mode is to reach.
struct Bars {
    Tolerance error;
    double cells_within;
    Tolerance ci95; // in all cells
    double cells_covered;
};

struct CellVerdict {
    double nominal_ns;
    int pairs;
    double bare_ns, raw_ns, net_ns; // medians over sessions, like the rest
    double error_ns, error_p10_ns, error_p90_ns;
    double ci95_ns;
    double covered_share; // of the sessions
    bool is_covered;

    bool is_within(const Tolerance &tolerance) const
    {
        return std::fabs(error_ns) <= tolerance.of(bare_ns);
    }
    double error_percent() const { return error_ns / bare_ns * 100; }
};

std::vector<CellVerdict> judge(const std::vector<Length> &lengths,
                               const std::vector<SessionReadings> &sessions);

void print_count(const std::string &name, const std::vector<CellVerdict> &cells, double bar,
                 const std::string &note, const std::function<bool(const CellVerdict &)> &is_good);

// The largest error, with the table of all cells.
void print_worst(const std::string &name, const Bars &bars, const std::vector<CellVerdict> &cells,
                 const std::vector<SessionReadings> &sessions);

// Figures under this name: the largest error, and cells that are within, precise and covered.
void print_figures(const std::string &name, const Bars &bars, const std::vector<CellVerdict> &cells,
                   const std::vector<SessionReadings> &sessions);
} // namespace bench
