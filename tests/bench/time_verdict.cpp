// SPDX-License-Identifier: MIT
#include "time_verdict.hpp"

#include <cmath>

#include <fmt/format.h>

namespace bench
{
namespace
{
constexpr double kAllowedShare = 0.02;
constexpr double kAllowedNs = 1;
constexpr double kNominalCoverage = 0.95;
constexpr double kByChance = 0.001; // share of correct cells that are called uncovered by chance

// The number of `count` sessions that a 95 % interval may miss before it is no longer chance.
int most_misses(int count)
{
    double probability = std::pow(kNominalCoverage, count), sum = probability;
    int misses = 0;
    while (sum < 1 - kByChance && misses < count) {
        probability *=
            (count - misses) * (1 - kNominalCoverage) / ((misses + 1) * kNominalCoverage);
        sum += probability;
        ++misses;
    }
    return misses;
}

// The bare time has its own interval, so the difference of two measurements is compared.
bool covers(const Reading &one)
{
    return std::fabs(one.net - one.bare) <= std::hypot(one.net_ci95, one.bare_ci95);
}

CellVerdict judge_cell(const Length &length, int pairs, const std::vector<Reading> &readings,
                       double per_ns)
{
    std::vector<double> bare, raw, net, error, ci95;
    int misses = 0;
    for (const Reading &one : readings) {
        bare.push_back(one.bare / per_ns);
        raw.push_back(one.raw / per_ns);
        net.push_back(one.net / per_ns);
        error.push_back((one.net - one.bare) / per_ns);
        ci95.push_back(one.net_ci95 / per_ns);
        misses += !covers(one);
    }
    const int count = int(readings.size());
    const double truth = median(bare);
    return {length.nominal_ns,
            pairs,
            truth,
            median(raw),
            median(net),
            median(error),
            quantile(error, 0.1),
            quantile(error, 0.9),
            median(ci95),
            std::max(kAllowedShare * truth, kAllowedNs),
            1 - double(misses) / count,
            misses <= most_misses(count)};
}

nlohmann::json raw_of(const std::vector<CellVerdict> &cells,
                      const std::vector<SessionReadings> &sessions)
{
    uint64_t lost = 0;
    for (const SessionReadings &session : sessions)
        lost += session.lost;
    nlohmann::json list = nlohmann::json::array();
    for (const CellVerdict &cell : cells)
        list.push_back({{"nominal_ns", cell.nominal_ns},
                        {"pairs", cell.pairs},
                        {"bare_ns", cell.bare_ns},
                        {"raw_ns", cell.raw_ns},
                        {"net_ns", cell.net_ns},
                        {"error_ns", cell.error_ns},
                        {"error_p10_ns", cell.error_p10_ns},
                        {"error_p90_ns", cell.error_p90_ns},
                        {"error_percent", cell.error_percent()},
                        {"ci95_ns", cell.ci95_ns},
                        {"allowed_ns", cell.allowed_ns},
                        {"is_within", cell.is_within()},
                        {"covered_share", cell.covered_share},
                        {"is_covered", cell.is_covered}});
    return {{"sessions", sessions.size()},
            {"lost_records", lost},
            {"clock_hz", sessions.front().clock_hz},
            {"cells", list}};
}
} // namespace

std::vector<CellVerdict> judge(const std::vector<Length> &lengths,
                               const std::vector<SessionReadings> &sessions)
{
    std::vector<CellVerdict> out;
    for (size_t i = 0; i < lengths.size(); ++i)
        for (size_t j = 0; j < lengths[i].cells.size(); ++j) {
            std::vector<Reading> readings;
            for (const SessionReadings &session : sessions)
                readings.push_back(session.readings[i][j]);
            out.push_back(judge_cell(lengths[i], lengths[i].cells[j].pairs, readings,
                                     sessions.front().clock_hz / 1e9));
        }
    return out;
}

std::vector<std::string> table(const std::vector<CellVerdict> &cells)
{
    std::vector<std::string> lines = {fmt::format(
        "{:>12} {:>5} {:>12} {:>9} {:>9} {:>7} {:>9} {:>9}  {}", "bare ns", "pairs", "raw ns",
        "error ns", "allowed", "error %", "± ci95 ns", "covered %", "verdict")};
    for (const CellVerdict &cell : cells)
        lines.push_back(fmt::format(
            "{:>12.2f} {:>5} {:>12.2f} {:>9.2f} {:>9.2f} {:>7.2f} {:>9.2f} {:>9.0f}  {}{}",
            cell.bare_ns, cell.pairs, cell.raw_ns, cell.error_ns, cell.allowed_ns,
            cell.error_percent(), cell.ci95_ns, cell.covered_share * 100,
            cell.is_within() ? "within" : "MISSED", cell.is_covered ? "" : ", NOT COVERED"));
    return lines;
}

void print_figures(const std::string &clock_mode, const std::vector<CellVerdict> &cells,
                   const std::vector<SessionReadings> &sessions)
{
    const std::string name = "time_cells_" + clock_mode;
    double worst = 0;
    int within = 0, covered = 0;
    for (const CellVerdict &cell : cells) {
        worst = std::max(worst, std::fabs(cell.error_ns) / cell.allowed_ns);
        within += cell.is_within();
        covered += cell.is_covered;
    }
    const double all = double(cells.size());
    print({name + "_worst", worst, "of the allowed", raw_of(cells, sessions),
           "largest error of a cell's median session; allowed: 2 % of the bare time or 1 ns, "
           "whichever is more",
           table(cells)},
          "at most", 1);
    print({name + "_within",
           double(within),
           "cells",
           {{"cells", cells.size()}},
           "cells with no more than the allowed error",
           {}},
          "at least", all);
    print({name + "_covered",
           double(covered),
           "cells",
           {{"cells", cells.size()}},
           "cells whose 95 % interval holds the bare time in so many sessions that the others may "
           "be chance (0.1 %)",
           {}},
          "at least", all);
}
} // namespace bench
