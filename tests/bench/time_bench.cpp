// SPDX-License-Identifier: MIT
// Corrected time of slices of 50 ns to 1 ms with 0 to 32 probe pairs inside, compared with the same
// code without probes.
#include <cmath>

#include "time_verdict.hpp"

namespace
{
constexpr int kSessions = 120; // short, because the cost of a probe varies with the core's
                               // neighbours; each session calibrates at both ends
constexpr double kShortNs = 100;
constexpr int kFewPairs = 8;

void print_short_slices(const std::vector<bench::CellVerdict> &cells)
{
    nlohmann::json raw;
    double worst = 0;
    for (const bench::CellVerdict &cell : cells) {
        if (cell.nominal_ns != kShortNs || cell.pairs > kFewPairs)
            continue;
        raw["uninstrumented_ns"] = cell.bare_ns;
        raw["pairs" + std::to_string(cell.pairs)] = {{"raw_ns", cell.raw_ns},
                                                     {"net_ns", cell.net_ns},
                                                     {"error_percent", cell.error_percent()}};
        worst = std::max(worst, std::fabs(cell.error_percent()));
    }
    bench::print({"time_error_100ns_percent",
                  worst,
                  "%",
                  raw,
                  "clock mode ordered, 0 to 8 pairs inside; medians over sessions of the trimmed "
                  "mean of 800 slices",
                  {}},
                 "at most", 3);
}
} // namespace

// The number of sessions can be given as an argument.
int main(int argc, char **argv)
{
    const int count = argc > 1 ? std::atoi(argv[1]) : kSessions;
    bench::pin_to_last_cpu(); // before the sessions are opened, so that they calibrate only this
                              // CPU
    const std::vector<bench::Length> lengths = bench::make_lengths();
    for (const char *clock_mode : {"ordered", "fast"}) {
        std::vector<bench::SessionReadings> sessions;
        for (int i = 0; i < count; ++i)
            sessions.push_back(bench::run_time_session(clock_mode, lengths, size_t(i)));
        const std::vector<bench::CellVerdict> cells = bench::judge(lengths, sessions);
        if (clock_mode == std::string("ordered"))
            print_short_slices(cells);
        bench::print_figures(clock_mode, cells, sessions);
    }
    return 0;
}
