// SPDX-License-Identifier: MIT
// Corrected time of slices of four more kinds of code, under random thinning, compared with the
// same code without probes.
#include "time_off.hpp"

namespace
{
using bench::Bars;
using bench::CellVerdict;

constexpr int kSessions = 5;
constexpr double kMostNotCovered = 0.05;

constexpr Bars kOrdered = {{0.02, 1}, 57, {0.04, 2}, 57}, kFast = {{0.05, 3}, 57, {0.08, 4}, 57};

struct Covered {
    size_t cells = 0, not_covered = 0;
};

template <class Code> void run_kind(const std::string &name, int count, Covered &covered)
{
    const std::vector<bench::Length> lengths =
        bench::make_lengths<Code, bench::Pairs::kAroundWork>();
    bench::print_off("time_cells_" + name, kOrdered.error, lengths);
    for (const char *clock : {"ordered", "fast"}) {
        std::vector<bench::SessionReadings> sessions;
        for (int i = 0; i < count; ++i)
            sessions.push_back(bench::run_time_session(clock, lengths, uint32_t(i)));
        const std::vector<CellVerdict> cells = bench::judge(lengths, sessions);
        const bool is_ordered = clock == std::string("ordered");
        const Bars &bars = is_ordered ? kOrdered : kFast;
        bench::print_worst("time_cells_" + name + "_" + clock + "_worst", bars, cells, sessions);
        if (is_ordered)
            bench::print_count("time_cells_" + name + "_" + clock + "_within", cells,
                               bars.cells_within, "cells with no more than the allowed error",
                               [&](const CellVerdict &cell) { return cell.is_within(bars.error); });
        covered.cells += cells.size();
        for (const CellVerdict &cell : cells)
            covered.not_covered += !cell.is_covered;
    }
}
} // namespace

// The number of sessions can be given as an argument.
int main(int argc, char **argv)
{
    const int count = argc > 1 ? std::atoi(argv[1]) : kSessions;
    bench::pin_to_last_cpu();
    Covered covered;
    run_kind<bench::Additions>("additions", count, covered);
    run_kind<bench::Chase>("chase", count, covered);
    run_kind<bench::Branches>("branches", count, covered);
    run_kind<bench::Vectors>("vectors", count, covered);
    bench::print({"time_cells_kinds_not_covered",
                  double(covered.not_covered) / double(covered.cells),
                  "of the cells",
                  {{"cells", covered.cells}},
                  "cells of all four kinds in both clock modes whose 95 % interval misses the bare "
                  "time in more sessions than chance explains",
                  {}},
                 "at most", kMostNotCovered);
    return 0;
}
