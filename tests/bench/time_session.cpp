// SPDX-License-Identifier: MIT
#include "time_session.hpp"

#include <algorithm>
#include <cmath>

#include "analyse/analyse.hpp"
#include "analyse/correct/student.hpp"
#include "analyse/statistics/blocks.hpp"
#include "analyse/statistics/moments.hpp"
#include "decode/file_reader.hpp"

namespace bench
{
namespace
{
constexpr size_t kRounds = 480;  // per session: a cell is in as many epochs, or fewer
constexpr double kLongNs = 1e6;  // long enough to be warm by itself
constexpr double kSpanNs = 250;  // longest span of more than one bare round
constexpr int kGroupPerWarm = 4; // slices of a group for each one before it; two more in any case

struct Mean {
    double value, ci95;
};

struct Span {
    uint64_t begin, ticks;
};

// Spans of few rounds and of more: their difference contains neither the clock reads nor what the
// ends of a span take.
struct BareTime {
    std::vector<Span> fewer, more;
};

struct SpanRounds {
    int fewer, more;
};

// A host's disturbances hit some of the spans, as they do slices, and those are trimmed; each span
// of many rounds would contain some.
SpanRounds span_rounds(const Length &length)
{
    const int together = int(kSpanNs / 2 / length.nominal_ns);
    return together > 0 ? SpanRounds{together, 2 * together} : SpanRounds{0, 1};
}

// Whether one of the epochs covers the span whole.  `epochs` are in time order.
bool is_in_epoch(const Span &span, const std::vector<nsdump::Epoch> &epochs)
{
    const auto after = std::upper_bound(
        epochs.begin(), epochs.end(), span.begin,
        [](uint64_t at, const nsdump::Epoch &epoch) { return at < epoch.begin_ticks; });
    return after != epochs.begin() && span.begin + span.ticks <= (after - 1)->end_ticks;
}

// As slices: those in one epoch only, if the net value is that of such slices, since switching
// probes takes time.
std::vector<double> comparable_ticks(const std::vector<Span> &spans,
                                     const std::vector<nsdump::Epoch> &epochs, bool is_thinned)
{
    std::vector<double> out;
    for (const Span &span : spans)
        if (!is_thinned || is_in_epoch(span, epochs))
            out.push_back(double(span.ticks));
    return out;
}

// The trimmed mean, as of slices: interrupts are excluded, and neighbours are not independent.
Mean mean_span(const std::vector<double> &spans, double step)
{
    nsdump::Histogram histogram;
    nsdump::Moments moments;
    nsdump::Blocks blocks;
    for (const double ticks : spans) {
        histogram.add(ticks);
        moments.add(ticks, 1, histogram.total());
        blocks.add(1, ticks);
    }
    const nsdump::TrimmedMean trimmed = histogram.trimmed_mean(nsdump::kTrimmedShare, step);
    const double count = double(histogram.total());
    const double independent = moments.sd(histogram.total()) / std::sqrt(count);
    const double alike = independent > 0 ? blocks.standard_error() / independent : 1;
    const double degrees = std::min(double(blocks.count()), double(trimmed.kept)) - 1;
    return {trimmed.mean, nsdump::student_t95(degrees) * alike * trimmed.standard_error};
}

Mean mean_round(const Length &length, const BareTime &bare,
                const std::vector<nsdump::Epoch> &epochs, bool is_thinned, double step)
{
    const SpanRounds rounds = span_rounds(length);
    const Mean fewer = mean_span(comparable_ticks(bare.fewer, epochs, is_thinned), step),
               more = mean_span(comparable_ticks(bare.more, epochs, is_thinned), step);
    const double difference = rounds.more - rounds.fewer;
    return {(more.value - fewer.value) / difference,
            std::hypot(more.ci95, fewer.ci95) / difference};
}

// Rounds before a group, which are not compared: they train caches and predictors.
int warm_rounds(const Length &length)
{
    return length.nominal_ns < kLongNs ? length.group / kGroupPerWarm + 2 : 0;
}

Span time_span(const Cell &cell, int rounds)
{
    const uint64_t begin = fenced_ticks();
    return {begin, cell.time_bare(rounds)};
}

// As many rounds as there are slices in a group, after the same warm-up: code whose branches cannot
// be predicted gets slower as predictors learn.
void add_bare(const Length &length, const Cell &cell, BareTime &bare)
{
    if (const int rounds = warm_rounds(length))
        cell.time_bare(rounds);
    const SpanRounds rounds = span_rounds(length);
    for (int left = length.group; left > 0; left -= rounds.fewer + rounds.more) {
        bare.fewer.push_back(time_span(cell, rounds.fewer));
        bare.more.push_back(time_span(cell, rounds.more));
    }
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
    const std::vector<nsdump::Epoch> epochs = nsdump::TraceFile(file.path()).epochs();
    SessionReadings out{report.clock.hz, counts.issued - counts.drained, {}};
    for (size_t i = 0; i < lengths.size(); ++i) {
        out.readings.emplace_back();
        for (size_t j = 0; j < lengths[i].cells.size(); ++j) {
            const NetTime net = net_of(report, lengths[i].cells[j].name);
            const Mean truth =
                mean_round(lengths[i], bare[i][j], epochs, net.is_thinned, report.clock.step_ticks);
            out.readings.back().push_back({truth.value, truth.ci95, net.raw, net.net, net.ci95});
        }
    }
    return out;
}
} // namespace bench
