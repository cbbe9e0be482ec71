// SPDX-License-Identifier: MIT
#include "time_session.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "analyse/analyse.hpp"
#include "decode/file_reader.hpp"
#include "time_bare.hpp"

namespace bench
{
namespace
{
constexpr size_t kPasses = 480; // per session: a cell is in as many epochs, or fewer

// What was run without probes in one session, by length and cell.
using AllBare = std::vector<std::vector<BareSpans>>;

// One call for all, so that its target is predicted after the first.
__attribute__((noinline)) void run_group(const Cell &cell, nsp_slice *slice, int slices)
{
    cell.run(slice, slices);
}

// The first slices train caches and predictors, which do not know whether the probes are on in this
// epoch.  The sites of other cells evict those of this one.
void run_slices(const Length &length, const Cell &cell)
{
    __builtin_prefetch(cell.around);
    __builtin_prefetch(cell.slice);
    if (const int slices = warm_rounds(length))
        run_group(cell, cell.warm, slices);
    NET_SLICE_START_AT(cell.around);
    run_group(cell, cell.slice, length.group);
    NET_SLICE_STOP_AT(cell.around);
}

// Code without probes and slices run close to each other, so that the core's neighbours affect both
// equally.
void run_cell(const Length &length, const Cell &cell, BareSpans &bare, bool is_bare_first)
{
    if (is_bare_first)
        add_bare(length, cell, bare);
    run_slices(length, cell);
    if (!is_bare_first)
        add_bare(length, cell, bare);
}

struct CellIndex {
    size_t length, cell;
};

// All cells once, in random order: in a fixed one, timer interrupts hit some more often than
// others, and slices more often than code without probes.
void run_pass(const std::vector<Length> &lengths, AllBare &bare, std::mt19937 &generator)
{
    std::vector<CellIndex> order;
    for (size_t i = 0; i < lengths.size(); ++i)
        for (size_t j = 0; j < lengths[i].cells.size(); ++j)
            order.push_back({i, j});
    std::shuffle(order.begin(), order.end(), generator);
    for (const CellIndex at : order)
        run_cell(lengths[at.length], lengths[at.length].cells[at.cell], bare[at.length][at.cell],
                 generator() % 2 == 0);
}

struct NetTime {
    double raw, net, ci95;
    bool is_thinned; // not by calibration alone
};

NetTime net_of(const nsdump::StatsReport &report, const std::string &name)
{
    for (const nsdump::SliceReport &slice : report.slices)
        if (slice.name == name)
            for (const nsdump::FieldReport &field : slice.values)
                if (field.field == "ticks" && field.net && field.net->trimmed_ci95)
                    return {field.raw.trimmed_mean, field.net->trimmed_mean,
                            *field.net->trimmed_ci95, slice.thinning && slice.thinning->net};
    std::fprintf(stderr, "no corrected slices %s in the trace\n", name.c_str());
    std::exit(1);
}

struct CellTimes {
    int pairs;
    NetTime net;
    MeanSpans bare;
};

std::vector<std::vector<CellTimes>> times_of(const std::vector<Length> &lengths,
                                             const AllBare &bare, const nsdump::StatsReport &report,
                                             const std::vector<nsdump::Epoch> &epochs)
{
    std::vector<std::vector<CellTimes>> out;
    for (size_t i = 0; i < lengths.size(); ++i) {
        out.emplace_back();
        for (size_t j = 0; j < lengths[i].cells.size(); ++j) {
            const Cell &cell = lengths[i].cells[j];
            const NetTime net = net_of(report, cell.name);
            out.back().push_back(
                {cell.pairs, net,
                 mean_spans(bare[i][j], epochs, net.is_thinned, report.clock.step_ticks)});
        }
    }
    return out;
}

// By number of pairs, of the longest rounds of which two were timed together.
std::map<int, nsdump::Measured> ends_by_pairs(const std::vector<std::vector<CellTimes>> &times)
{
    std::map<int, nsdump::Measured> out;
    for (const std::vector<CellTimes> &length : times)
        for (const CellTimes &cell : length)
            if (cell.bare.two)
                out[cell.pairs] = ends_of(cell.bare);
    return out;
}
} // namespace

SessionReadings run_time_session(const char *clock_mode, const std::vector<Length> &lengths,
                                 uint32_t seed)
{
    const TmpfsFile file("netslice-time-bench.nsl");
    AllBare bare;
    for (const Length &length : lengths)
        bare.emplace_back(length.cells.size());
    std::mt19937 generator(seed);
    nsp_session_counts counts;
    open_session("output=" + file.path() + " ring=4M thin=1 clock=" + clock_mode);
    let_other_threads_run_anywhere();
    for (size_t pass = 0; pass < kPasses; ++pass)
        run_pass(lengths, bare, generator);
    nsp_session_close(&counts);

    const nsdump::StatsReport report = nsdump::analyse_trace(file.path());
    const auto times = times_of(lengths, bare, report, nsdump::TraceFile(file.path()).epochs());
    const std::map<int, nsdump::Measured> ends = ends_by_pairs(times);
    SessionReadings out{report.clock.hz, counts.issued - counts.drained, {}};
    for (const std::vector<CellTimes> &length : times) {
        out.readings.emplace_back();
        for (const CellTimes &cell : length) {
            const nsdump::Measured round = round_of(cell.bare, ends.at(cell.pairs));
            out.readings.back().push_back(
                {round.value, round.ci95, cell.net.raw, cell.net.net, cell.net.ci95});
        }
    }
    return out;
}
} // namespace bench
