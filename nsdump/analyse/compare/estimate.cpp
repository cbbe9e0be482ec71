// SPDX-License-Identifier: MIT
// compare: one figure of several runs -> its mean and error; two of these -> their difference.
#include "analyse/compare/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "analyse/compare/significance.hpp"
#include "analyse/correct/uncertainty.hpp"
#include "analyse/statistics/blocks.hpp"

namespace nsdump
{
namespace
{
// Sums of many slices are rounded; the smallest real difference, of one instruction in as many
// slices as a trace of 100 GB has, is larger.
constexpr double kRounding = 1e-11;
} // namespace

bool is_every_unit_counted(const FieldReport &field, const StatsReport &report)
{
    const auto every = report.info.find("counters.step_every");
    return field.field != "ticks" && report.counter_source == "step" &&
           every != report.info.end() && every->second == "1";
}

double degrees_of(uint64_t count)
{
    return double(std::min<uint64_t>(count, Blocks::kBlocks / 2)) - 1;
}

std::optional<Figure> figure_of(const FieldReport &field, const StatsReport &report)
{
    const bool is_time = field.field == "ticks";
    if (!field.net || (is_time && !(report.clock.hz > 0)))
        return std::nullopt;
    Figure figure;
    figure.count = field.count;
    figure.packets = field.packets;
    figure.degrees = degrees_of(field.count);
    figure.is_whole = is_every_unit_counted(field, report);
    std::optional<double> value, half95;
    if (field.per_packet && field.per_packet->net) {
        const PerPacket &packet = *field.per_packet;
        figure.is_per_packet = true;
        value = is_time ? packet.net_trimmed : packet.net;
        half95 = is_time ? packet.net_trimmed_ci95 : packet.net_ci95;
    } else {
        value = is_time ? field.net->trimmed_mean : field.net->mean;
        half95 = is_time ? field.net->trimmed_ci95 : field.net->ci95;
    }
    if (figure.is_whole)
        half95 = half95.value_or(0);
    if (!value || !half95 || !std::isfinite(*value) || !std::isfinite(*half95))
        return std::nullopt;
    const double scale = is_time ? report.clock.ns_per_tick() : 1;
    figure.value = *value * scale;
    figure.half95 = *half95 * scale;
    return figure;
}

double Estimate::standard_error() const
{
    return std::max(within_error, std::sqrt(between_variance / double(runs)));
}

double Estimate::degrees() const
{
    const bool is_between = between_variance / double(runs) > within_error * within_error;
    return is_between ? double(runs) - 1 : within_degrees;
}

Estimate estimate_of(const std::vector<Figure> &runs)
{
    Estimate out;
    out.runs = runs.size();
    const double n = double(runs.size());
    Uncertainty within;
    for (const Figure &run : runs) {
        out.value += run.value / n;
        within.add_ci95(run.half95 / n, run.degrees);
    }
    out.within_error = std::sqrt(within.variance());
    out.within_degrees = within.degrees();
    double squares = 0;
    for (const Figure &run : runs)
        squares += (run.value - out.value) * (run.value - out.value);
    if (runs.size() > 1 && std::sqrt(squares) > kRounding * std::fabs(out.value))
        out.between_variance = squares / (n - 1);
    return out;
}

bool are_whole(const std::vector<Figure> &first, const std::vector<Figure> &second)
{
    return first.size() == 1 && second.size() == 1 && first[0].is_whole && second[0].is_whole &&
           first[0].count == second[0].count && first[0].packets == second[0].packets;
}

double Difference::p_value() const
{
    if (is_exact)
        return value == 0 ? 1 : 0;
    return standard_error > 0 ? student_p(value / standard_error, degrees) : 1;
}

Difference difference_of(const Estimate &first, const Estimate &second, double run_spread)
{
    Difference out;
    out.value = second.value - first.value;
    if (first.is_exact() && second.is_exact()) {
        out.is_exact = true;
        if (std::fabs(out.value) <= kRounding * std::fabs(first.value))
            out.value = 0;
        return out;
    }
    Uncertainty error;
    if (first.runs == 1 && second.runs == 1) {
        out.assumed_spread = run_spread;
        for (const Estimate *side : {&first, &second}) {
            error.add(side->within_error, side->within_degrees);
            error.add(run_spread * side->value, kManyDegrees);
        }
    } else if (first.runs == 1 || second.runs == 1) {
        const Estimate &several = first.runs > 1 ? first : second;
        const Estimate &one = first.runs > 1 ? second : first;
        const double n = double(several.runs);
        Uncertainty within;
        within.add(several.within_error, several.within_degrees);
        within.add(one.within_error, one.within_degrees);
        const double between = several.between_variance * (1 + 1 / n);
        if (between > within.variance())
            error.add(std::sqrt(between), n - 1);
        else
            error = within;
    } else {
        error.add(first.standard_error(), first.degrees());
        error.add(second.standard_error(), second.degrees());
    }
    out.standard_error = std::sqrt(error.variance());
    out.degrees = error.degrees();
    return out;
}
} // namespace nsdump
