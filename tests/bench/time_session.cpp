// SPDX-License-Identifier: MIT
#include "time_session.hpp"

#include <cmath>

#include "analyse/analyse.hpp"
#include "analyse/correct/student.hpp"
#include "analyse/statistics/blocks.hpp"
#include "analyse/statistics/moments.hpp"

namespace bench
{
namespace
{
constexpr size_t kRounds = 240;     // per session: a cell is in as many epochs, or fewer
constexpr double kLongNs = 1e6;     // long enough to be warm by itself
constexpr double kOneByOneNs = 5e3; // the fences around a round are no part of its time
constexpr int kGroupPerWarm = 4; // slices of a group for each one before it; two more in any case

struct Mean {
    double value, ci95;
};

// As in the slices' statistics: interrupts are excluded, and neighbours are not independent.
class BareTime
{
public:
    void add(double ticks)
    {
        histogram_.add(ticks);
        moments_.add(ticks, 1, histogram_.total());
        blocks_.add(1, ticks);
    }
    Mean mean() const
    {
        const nsdump::TrimmedMean trimmed = histogram_.trimmed_mean(nsdump::kTrimmedShare, 0);
        const double count = double(histogram_.total());
        const double independent = moments_.sd(histogram_.total()) / std::sqrt(count);
        const double alike = independent > 0 ? blocks_.standard_error() / independent : 1;
        const double degrees = std::min(double(blocks_.count()), double(trimmed.kept)) - 1;
        return {trimmed.mean, nsdump::student_t95(degrees) * alike * trimmed.standard_error};
    }

private:
    nsdump::Histogram histogram_;
    nsdump::Moments moments_;
    nsdump::Blocks blocks_;
};

// The cost of the two clock reads around a span.
double empty_ticks(const Cell &cell)
{
    constexpr int kReads = 32;
    uint64_t sum = 0;
    for (int i = 0; i < kReads; ++i)
        sum += cell.time_bare(0);
    return double(sum) / kReads;
}

// Rounds before a group, which are not compared: they train caches and predictors.
int warm_rounds(const Length &length)
{
    return length.nominal_ns < kLongNs ? length.group / kGroupPerWarm + 2 : 0;
}

// As many rounds as there are slices in a group, after the same warm-up: code whose branches cannot
// be predicted gets slower as predictors learn.  Long rounds are timed one by one, as slices are:
// of both, those that are interrupted or mispredicted most do not count.
void add_bare(const Length &length, const Cell &cell, BareTime &bare)
{
    if (const int rounds = warm_rounds(length))
        cell.time_bare(rounds);
    const int together = length.nominal_ns < kOneByOneNs ? length.group : 1;
    std::vector<double> ticks;
    for (int i = 0; i < length.group; i += together)
        ticks.push_back(double(cell.time_bare(together)));
    const double empty = empty_ticks(cell);
    for (const double one : ticks)
        bare.add((one - empty) / together);
}

// Alternates bare work and slices, so that the core's neighbours affect both equally.  The first
// slices train caches and predictors, which do not know whether the probes are on in this epoch.
void run_cell(const Length &length, const Cell &cell, BareTime &bare)
{
    add_bare(length, cell, bare);
    if (const int rounds = warm_rounds(length))
        cell.run(cell.warm, rounds);
    NET_SLICE_START_AT(cell.around);
    cell.run(cell.slice, length.group);
    NET_SLICE_STOP_AT(cell.around);
}

// Lengths and cells take turns in running first.
void run_round(const std::vector<Length> &lengths, std::vector<std::vector<BareTime>> &bare,
               size_t turn)
{
    for (size_t i = 0; i < lengths.size(); ++i) {
        const size_t at = (turn + i) % lengths.size();
        const std::vector<Cell> &cells = lengths[at].cells;
        for (size_t j = 0; j < cells.size(); ++j) {
            const size_t cell = (turn / lengths.size() + j) % cells.size();
            run_cell(lengths[at], cells[cell], bare[at][cell]);
        }
    }
}

const nsdump::Distribution &net_of(const nsdump::StatsReport &report, const std::string &name,
                                   double &raw)
{
    for (const nsdump::SliceReport &slice : report.slices)
        if (slice.name == name)
            for (const nsdump::FieldReport &field : slice.values)
                if (field.field == "ticks" && field.net && field.net->trimmed_ci95) {
                    raw = field.raw.trimmed_mean;
                    return *field.net;
                }
    std::fprintf(stderr, "no corrected slices %s in the trace\n", name.c_str());
    std::exit(1);
}
} // namespace

SessionReadings run_time_session(const char *clock_mode, const std::vector<Length> &lengths,
                                 size_t turn)
{
    const TmpfsFile file("netslice-time-bench.nsl");
    std::vector<std::vector<BareTime>> bare;
    for (const Length &length : lengths)
        bare.emplace_back(length.cells.size());
    nsp_session_counts counts;
    open_session("output=" + file.path() + " ring=4M thin=1 clock=" + clock_mode);
    let_other_threads_run_anywhere();
    for (size_t round = 0; round < kRounds; ++round)
        run_round(lengths, bare, turn * kRounds + round);
    nsp_session_close(&counts);

    const nsdump::StatsReport report = nsdump::analyse_trace(file.path());
    SessionReadings out{report.clock.hz, counts.issued - counts.drained, {}};
    for (size_t i = 0; i < lengths.size(); ++i) {
        out.readings.emplace_back();
        for (size_t j = 0; j < lengths[i].cells.size(); ++j) {
            const Mean truth = bare[i][j].mean();
            double raw = 0;
            const nsdump::Distribution &net = net_of(report, lengths[i].cells[j].name, raw);
            out.readings.back().push_back(
                {truth.value, truth.ci95, raw, net.trimmed_mean, *net.trimmed_ci95});
        }
    }
    return out;
}
} // namespace bench
