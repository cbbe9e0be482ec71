// SPDX-License-Identifier: MIT
// Corrected time of slices of 50 ns to 1 ms with 0 to 32 probe pairs inside, under random thinning,
// compared with the same code without probes.
#include <cmath>

#include "time_verdict.hpp"

namespace
{
using bench::Bars;
using bench::Pairs;

constexpr int kSessions = 10; // the cost of a probe varies with the core's neighbours; each session
                              // calibrates at both ends
constexpr double kShortNs = 100;
constexpr int kFewPairs = 8;
constexpr bench::Tolerance kStrictFast = {0.02, 1.5};
constexpr double kCellsWithinStrictFast = 45;

struct Mode {
    const char *clock;
    Bars bars;
};
constexpr Mode kModes[] = {{"ordered", {{0.02, 1}, 60, {0.04, 2}, 57}},
                           {"fast", {{0.05, 3}, 57, {0.08, 4}, 57}}};

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
                  "clock mode ordered, 0 to 8 pairs around work inside; medians over sessions of "
                  "trimmed means",
                  {}},
                 "at most", 3);
}
void run_set(const std::string &set, const std::vector<bench::Length> &lengths, int count)
{
    for (const Mode &mode : kModes) {
        std::vector<bench::SessionReadings> sessions;
        for (int i = 0; i < count; ++i)
            sessions.push_back(bench::run_time_session(mode.clock, lengths, uint32_t(i)));
        const std::vector<bench::CellVerdict> cells = bench::judge(lengths, sessions);
        const bool is_ordered = mode.clock == std::string("ordered");
        if (is_ordered && set.empty())
            print_short_slices(cells);
        const std::string name = "time_cells_" + set + mode.clock;
        bench::print_figures(name, mode.bars, cells, sessions);
        if (!is_ordered)
            bench::print_count(
                name + "_within_strict", cells, kCellsWithinStrictFast,
                "cells with an error of at most 2 % or 1.5 ns",
                [](const bench::CellVerdict &cell) { return cell.is_within(kStrictFast); });
    }
}
} // namespace

// The number of sessions can be given as an argument.
int main(int argc, char **argv)
{
    const int count = argc > 1 ? std::atoi(argv[1]) : kSessions;
    bench::pin_to_last_cpu(); // before the sessions are opened, so that they calibrate only this
                              // CPU
    run_set("", bench::make_lengths<bench::Chain, Pairs::kAroundWork>(), count);
    run_set("empty_", bench::make_lengths<bench::Chain, Pairs::kEmpty>(), count);
    return 0;
}
