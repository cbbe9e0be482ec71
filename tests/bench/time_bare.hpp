// SPDX-License-Identifier: MIT
// The code of a cell without probes, between clock reads -> the time of one round.
#pragma once

#include <optional>
#include <vector>

#include "analyse/thinning/result.hpp"
#include "decode/trace_parts.hpp"
#include "time_cells.hpp"

namespace bench
{
// Spans of one round, and of two; `two` is empty for long rounds.
struct BareSpans {
    std::vector<Span> one, two;
};

// Runs as many rounds of either as there are slices in a group, after the same warm-up: code whose
// branches cannot be predicted gets slower as predictors learn.
void add_bare(const Length &length, const Cell &cell, BareSpans &bare);

// Means in ticks.
struct MeanSpans {
    nsdump::Measured one;
    std::optional<nsdump::Measured> two;
};

// If the net value is that of slices within one of the `epochs`, in time order, so are the spans:
// switching probes takes time. `step`: of the clock, in ticks.
MeanSpans mean_spans(const BareSpans &bare, const std::vector<nsdump::Epoch> &epochs,
                     bool is_thinned, double step);

// What the ends of a span take in addition to its rounds: the clock reads, the call, and what
// overlaps with either. A span without a round takes longer or less long, since work overlaps with
// its ends. Requires `two`.
nsdump::Measured ends_of(const MeanSpans &spans);

// The time of one round. `ends`: of spans with as many pairs; used only for long rounds.
nsdump::Measured round_of(const MeanSpans &spans, const nsdump::Measured &ends);
} // namespace bench
