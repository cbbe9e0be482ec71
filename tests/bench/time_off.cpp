// SPDX-License-Identifier: MIT
#include "time_off.hpp"

#include <cmath>

#include <fmt/format.h>

namespace bench
{
namespace
{
constexpr double kPerCellNs = 2e7;
constexpr int kRoundsLeast = 25, kRoundsMost = 400;

uint64_t time_cell(const Cell &cell, int slices)
{
    const uint64_t begin = fenced_ticks();
    cell.run(cell.slice, slices);
    return fenced_ticks() - begin;
}

struct OffTime {
    double bare_ns, off_ns; // medians over rounds, which alternate
};

// Both with two clock reads, whose cost is the same.
OffTime time_off(const Length &length, const Cell &cell, double per_ns)
{
    const int rounds =
        std::clamp(int(kPerCellNs / length.nominal_ns / length.group), kRoundsLeast, kRoundsMost);
    const double per_round = per_ns * length.group;
    std::vector<double> bare, off;
    for (int i = 0; i < rounds; ++i) {
        bare.push_back(double(length.time_bare(length.group)) / per_round);
        off.push_back(double(time_cell(cell, length.group)) / per_round);
    }
    return {median(bare), median(off)};
}
} // namespace

void print_off(const std::string &name, const Tolerance &allowed,
               const std::vector<Length> &lengths)
{
    const double per_ns = ticks_per_ns();
    std::vector<std::string> lines = {fmt::format("{:>12} {:>5} {:>12} {:>9} {:>7}", "bare ns",
                                                  "pairs", "off ns", "more ns", "%")};
    nlohmann::json list = nlohmann::json::array();
    int within = 0;
    for (const Length &length : lengths)
        for (const Cell &cell : length.cells) {
            const OffTime time = time_off(length, cell, per_ns);
            const double more_ns = time.off_ns - time.bare_ns;
            within += std::fabs(more_ns) <= allowed.of(time.bare_ns);
            lines.push_back(fmt::format("{:>12.2f} {:>5} {:>12.2f} {:>9.2f} {:>7.2f}", time.bare_ns,
                                        cell.pairs, time.off_ns, more_ns,
                                        more_ns / time.bare_ns * 100));
            list.push_back(
                {{"pairs", cell.pairs}, {"bare_ns", time.bare_ns}, {"off_ns", time.off_ns}});
        }
    print({name,
           double(within),
           "cells",
           {{"cells", list}},
           fmt::format("cells in which the code with all probes off takes as long as without "
                       "probes, within {:.0f} % or {} ns; thinning cannot see the difference",
                       allowed.share * 100, allowed.ns),
           lines});
}
} // namespace bench
