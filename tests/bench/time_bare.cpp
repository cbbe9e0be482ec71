// SPDX-License-Identifier: MIT
#include "time_bare.hpp"

#include <algorithm>
#include <cmath>

#include "analyse/correct/interval.hpp"
#include "analyse/correct/student.hpp"
#include "analyse/report.hpp"
#include "analyse/statistics/blocks.hpp"
#include "analyse/statistics/histogram.hpp"
#include "analyse/statistics/moments.hpp"

namespace bench
{
namespace
{
// Whether one of the epochs covers the span whole.  `epochs` are in time order.
bool is_in_epoch(const Span &span, const std::vector<nsdump::Epoch> &epochs)
{
    const auto after = std::upper_bound(
        epochs.begin(), epochs.end(), span.begin,
        [](uint64_t at, const nsdump::Epoch &epoch) { return at < epoch.begin_ticks; });
    return after != epochs.begin() && span.begin + span.ticks <= (after - 1)->end_ticks;
}

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
nsdump::Measured mean_of(const std::vector<double> &spans, double step)
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
    const double alike = independent > 0 ? std::max(1.0, blocks.standard_error() / independent) : 1;
    const double degrees = std::min(double(blocks.count()), double(trimmed.kept)) - 1;
    return {trimmed.mean, std::max(nsdump::student_t95(degrees) * alike * trimmed.standard_error,
                                   nsdump::rounding_ci95(step, histogram.total()))};
}
} // namespace

void add_bare(const Length &length, const Cell &cell, BareSpans &bare)
{
    const int warm = warm_rounds(length);
    for (int i = 0; i < warm + length.group; ++i) {
        const Span one = cell.time_one();
        const Span two = cell.time_two ? cell.time_two() : Span{};
        if (i < warm)
            continue;
        bare.one.push_back(one);
        if (cell.time_two)
            bare.two.push_back(two);
    }
}

MeanSpans mean_spans(const BareSpans &bare, const std::vector<nsdump::Epoch> &epochs,
                     bool is_thinned, double step)
{
    const auto mean = [&](const std::vector<Span> &spans) {
        return mean_of(comparable_ticks(spans, epochs, is_thinned), step);
    };
    MeanSpans out{mean(bare.one), {}};
    if (!bare.two.empty())
        out.two = mean(bare.two);
    return out;
}

nsdump::Measured ends_of(const MeanSpans &spans)
{
    return {2 * spans.one.value - spans.two->value,
            std::hypot(2 * spans.one.ci95, spans.two->ci95)};
}

nsdump::Measured round_of(const MeanSpans &spans, const nsdump::Measured &ends)
{
    if (spans.two)
        return {spans.two->value - spans.one.value, std::hypot(spans.one.ci95, spans.two->ci95)};
    return {spans.one.value - ends.value, std::hypot(spans.one.ci95, ends.ci95)};
}
} // namespace bench
