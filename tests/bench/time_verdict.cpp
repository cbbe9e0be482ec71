// SPDX-License-Identifier: MIT
#include "time_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace bench
{
namespace
{
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
            1 - double(misses) / count,
            misses <= most_misses(count)};
}

nlohmann::json raw_of(const Bars &bars, const std::vector<CellVerdict> &cells,
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
                        {"allowed_ns", bars.error.of(cell.bare_ns)},
                        {"is_within", cell.is_within(bars.error)},
                        {"covered_share", cell.covered_share},
                        {"is_covered", cell.is_covered}});
    return {{"sessions", sessions.size()},
            {"lost_records", lost},
            {"clock_hz", sessions.front().clock_hz},
            {"cells", list}};
}
std::vector<std::string> table(const Bars &bars, const std::vector<CellVerdict> &cells)
{
    std::vector<std::string> lines = {fmt::format(
        "{:>12} {:>5} {:>12} {:>9} {:>9} {:>7} {:>9} {:>9}  {}", "bare ns", "pairs", "raw ns",
        "error ns", "allowed", "error %", "± ci95 ns", "covered %", "verdict")};
    for (const CellVerdict &cell : cells)
        lines.push_back(fmt::format(
            "{:>12.2f} {:>5} {:>12.2f} {:>9.2f} {:>9.2f} {:>7.2f} {:>9.2f} {:>9.0f}  {}{}{}",
            cell.bare_ns, cell.pairs, cell.raw_ns, cell.error_ns, bars.error.of(cell.bare_ns),
            cell.error_percent(), cell.ci95_ns, cell.covered_share * 100,
            cell.is_within(bars.error) ? "within" : "MISSED",
            cell.ci95_ns <= bars.ci95.of(cell.bare_ns) ? "" : ", WIDE",
            cell.is_covered ? "" : ", NOT COVERED"));
    return lines;
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

void print_count(const std::string &name, const std::vector<CellVerdict> &cells, double bar,
                 const std::string &note, const std::function<bool(const CellVerdict &)> &is_good)
{
    const auto good = std::count_if(cells.begin(), cells.end(), is_good);
    print({name, double(good), "cells", {{"cells", cells.size()}}, note, {}}, "at least", bar);
}

void print_worst(const std::string &name, const Bars &bars, const std::vector<CellVerdict> &cells,
                 const std::vector<SessionReadings> &sessions)
{
    double worst = 0;
    for (const CellVerdict &cell : cells)
        worst = std::max(worst, std::fabs(cell.error_ns) / bars.error.of(cell.bare_ns));
    print({name, worst, "of the allowed", raw_of(bars, cells, sessions),
           fmt::format("largest error of a cell's median session; allowed: {:.0f} % of the bare "
                       "time or {} ns, whichever is more",
                       bars.error.share * 100, bars.error.ns),
           table(bars, cells)});
}

void print_figures(const std::string &name, const Bars &bars, const std::vector<CellVerdict> &cells,
                   const std::vector<SessionReadings> &sessions)
{
    print_worst(name + "_worst", bars, cells, sessions);
    print_count(name + "_within", cells, bars.cells_within,
                "cells with no more than the allowed error",
                [&](const CellVerdict &cell) { return cell.is_within(bars.error); });
    print_count(
        name + "_precise", cells, double(cells.size()),
        fmt::format("cells whose half width is at most {:.0f} % or {} ns", bars.ci95.share * 100,
                    bars.ci95.ns),
        [&](const CellVerdict &cell) { return cell.ci95_ns <= bars.ci95.of(cell.bare_ns); });
    print_count(name + "_covered", cells, bars.cells_covered,
                "cells whose 95 % interval holds the bare time in so many sessions that the others "
                "may be chance (0.1 %)",
                [](const CellVerdict &cell) { return cell.is_covered; });
}
} // namespace bench
