// SPDX-License-Identifier: MIT
// Many sessions' readings of a cell -> error of the corrected time, and how often its interval
// covers the true time.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "figure.hpp"
#include "time_session.hpp"

namespace bench
{
struct CellVerdict {
    double nominal_ns;
    int pairs;
    double bare_ns, raw_ns, net_ns; // medians over sessions, like the rest
    double error_ns, error_p10_ns, error_p90_ns;
    double ci95_ns;
    double allowed_ns;
    double covered_share; // of the sessions
    bool is_covered;

    bool is_within() const { return std::fabs(error_ns) <= allowed_ns; }
    double error_percent() const { return error_ns / bare_ns * 100; }
};

std::vector<CellVerdict> judge(const std::vector<Length> &lengths,
                               const std::vector<SessionReadings> &sessions);

std::vector<std::string> table(const std::vector<CellVerdict> &cells);

// Three figures, each with its bar: the largest error, cells within, cells covered.
void print_figures(const std::string &clock_mode, const std::vector<CellVerdict> &cells,
                   const std::vector<SessionReadings> &sessions);
} // namespace bench
