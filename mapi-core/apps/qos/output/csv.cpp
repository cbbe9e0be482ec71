// SPDX-License-Identifier: MIT
// csv: figures -> a row for each direction, flow and interval.
#include <fmt/format.h>

#include "qos/output/output.hpp"

namespace qos
{
namespace
{
constexpr const char *kHead =
    "from,to,kind,flow,begin_s,sent,received,lost,loss,loss_low,loss_high,duplicates,reordered,"
    "delay_min_ms,delay_mean_ms,delay_mean_low_ms,delay_mean_high_ms,delay_p50_ms,delay_p95_ms,"
    "delay_p99_ms,delay_max_ms,ipdv_mean_ms,ipdv_min_ms,ipdv_max_ms,jitter_ms\n";

std::string measured_csv(const Measured &measured)
{
    std::string row =
        fmt::format("{},{},{},{:.9g},{:.9g},{:.9g},{},{}", measured.sent, measured.received,
                    measured.lost, measured.loss(), measured.loss_interval.low,
                    measured.loss_interval.high, measured.duplicates, measured.reordered);
    if (const auto &delays = measured.delays)
        row += fmt::format(",{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}",
                           delays->min_ms, delays->mean_ms, delays->mean_interval_ms.low,
                           delays->mean_interval_ms.high, delays->p50_ms, delays->p95_ms,
                           delays->p99_ms, delays->max_ms);
    else
        row += ",,,,,,,,";
    if (const auto &variation = measured.variation)
        row += fmt::format(",{:.6f},{:.6f},{:.6f},{:.6f}", variation->mean_abs_ms,
                           variation->min_ms, variation->max_ms, variation->jitter_ms);
    else
        row += ",,,,";
    return row + "\n";
}

// Quotes are doubled; a name may also have a comma.
std::string quoted(const std::string &text)
{
    std::string result = "\"";
    for (const char letter : text)
        result += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return result + "\"";
}
} // namespace

std::string csv_of(const Figures &figures, uint64_t flows)
{
    std::string text = kHead;
    for (const PathFigures *path : {&figures.forward, &figures.backward}) {
        const std::string points = quoted(path->from) + "," + quoted(path->to);
        text += fmt::format("{},all,,,{}", points, measured_csv(path->total));
        for (size_t i = 0; i < printed_flows(path->flows.size(), flows); ++i)
            text += fmt::format("{},flow,{},,{}", points, quoted(flow_text(path->flows[i].flow)),
                                measured_csv(path->flows[i].measured));
        for (const IntervalFigures &interval : path->intervals)
            text += fmt::format("{},interval,,{:.9f},{}", points, double(interval.begin_ns) / 1e9,
                                measured_csv(interval.measured));
    }
    return text;
}
} // namespace qos
