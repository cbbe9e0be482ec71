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

struct Times {
    double bare_ns, empty_asm_ns, off_ns; // medians over rounds, which alternate
};

// All with two clock reads, whose cost is the same; `off` also contains one call for each group.
Times time_each(const Length &length, const Cell &cell, double per_ns)
{
    const int rounds =
        std::clamp(int(kPerCellNs / length.nominal_ns / length.group), kRoundsLeast, kRoundsMost);
    const double per_round = per_ns * length.group;
    std::vector<double> bare, empty_asm, off;
    for (int i = 0; i < rounds; ++i) {
        bare.push_back(double(cell.time_bare(length.group)) / per_round);
        empty_asm.push_back(double(cell.time_empty_asm(length.group)) / per_round);
        off.push_back(double(time_cell(cell, length.group)) / per_round);
    }
    return {median(bare), median(empty_asm), median(off)};
}
} // namespace

void print_off(const std::string &name, const Tolerance &allowed,
               const std::vector<Length> &lengths)
{
    const double per_ns = ticks_per_ns();
    std::vector<std::string> lines = {fmt::format("{:>12} {:>5} {:>13} {:>7} {:>12} {:>7}",
                                                  "bare ns", "pairs", "empty asm ns", "%", "off ns",
                                                  "%")};
    nlohmann::json list = nlohmann::json::array();
    int off_within = 0, layout_within = 0;
    for (const Length &length : lengths)
        for (const Cell &cell : length.cells) {
            const Times time = time_each(length, cell, per_ns);
            const double layout_ns = time.empty_asm_ns - time.bare_ns,
                         off_ns = time.off_ns - time.bare_ns, allowed_ns = allowed.of(time.bare_ns);
            off_within += std::fabs(off_ns) <= allowed_ns;
            layout_within += std::fabs(layout_ns) <= allowed_ns;
            lines.push_back(fmt::format("{:>12.2f} {:>5} {:>13.2f} {:>7.2f} {:>12.2f} {:>7.2f}",
                                        time.bare_ns, cell.pairs, time.empty_asm_ns,
                                        layout_ns / time.bare_ns * 100, time.off_ns,
                                        off_ns / time.bare_ns * 100));
            list.push_back({{"pairs", cell.pairs},
                            {"bare_ns", time.bare_ns},
                            {"empty_asm_ns", time.empty_asm_ns},
                            {"off_ns", time.off_ns}});
        }
    print({name + "_layout_within",
           double(layout_within),
           "cells",
           {},
           fmt::format("cells in which the code takes as long with empty asm statements in the "
                       "probes' places, within {:.0f} % or {} ns",
                       allowed.share * 100, allowed.ns),
           {}});
    print({name + "_off_within",
           double(off_within),
           "cells",
           {{"cells", list}},
           fmt::format("cells in which the code with all probes off takes as long as without "
                       "probes, within {:.0f} % or {} ns; thinning cannot see the difference",
                       allowed.share * 100, allowed.ns),
           lines});
}
} // namespace bench
