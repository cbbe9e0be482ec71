// SPDX-License-Identifier: MIT
// compare: what a rule is about, in one slice or a ratio of two -> its figure in every run.
#include "analyse/compare/rule_figure.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyse/compare/comparable.hpp"
#include "analyse/compare/figure_names.hpp"
#include "analyse/correct/student.hpp"

namespace nsdump
{
namespace
{
// Of percentiles, which come from a histogram.
constexpr double kPercentileShare = 0.008;

struct Found {
    std::optional<Figure> figure;
    std::string why;
};

bool is_same_word(const std::string &counter, std::string_view lower)
{
    return std::equal(counter.begin(), counter.end(), lower.begin(), lower.end(),
                      [](unsigned char a, char b) { return char(std::tolower(a)) == b; });
}

bool is_raw(const Rule &rule)
{
    return rule.figure.starts_with("raw_");
}

Statistic statistic_of(const Rule &rule, bool is_time)
{
    if (rule.statistic != Statistic::kDefault)
        return rule.statistic;
    return is_time ? Statistic::kTrimmed : Statistic::kMean;
}

std::optional<double> quantile_of(const Distribution &values, Statistic statistic)
{
    switch (statistic) {
    case Statistic::kP50: return values.p50;
    case Statistic::kP90: return values.p90;
    case Statistic::kP99: return values.p99;
    case Statistic::kP999: return values.p999;
    case Statistic::kMin: return values.min;
    case Statistic::kMax: return values.max;
    default: return std::nullopt;
    }
}

bool is_mean(Statistic statistic)
{
    return statistic == Statistic::kMean || statistic == Statistic::kTrimmed;
}

struct Interval {
    std::optional<double> value, half95;
};

Interval mean_of(const FieldReport &field, bool is_trimmed, bool is_net, bool is_per_packet)
{
    if (is_net && is_per_packet) {
        const PerPacket &packet = *field.per_packet;
        return is_trimmed ? Interval{packet.net_trimmed, packet.net_trimmed_ci95}
                          : Interval{packet.net, packet.net_ci95};
    }
    if (is_net)
        return is_trimmed ? Interval{field.net->trimmed_mean, field.net->trimmed_ci95}
                          : Interval{field.net->mean, field.net->ci95};
    // Raw values have no interval in a report; this is the sampling error of independent slices.
    const double slices = is_per_packet ? field.per_packet->slices : 1, n = double(field.count);
    Interval out{slices * (is_trimmed ? field.raw.trimmed_mean : field.raw.mean), std::nullopt};
    if (field.count > 1)
        out.half95 = slices * student_t95(n - 1) * field.raw.sd / std::sqrt(n);
    return out;
}

Found figure_in(const Rule &rule, const FieldReport &field, const StatsReport &report)
{
    const bool is_time = field.field == "ticks", is_net = !is_raw(rule);
    const Statistic statistic = statistic_of(rule, is_time);
    const Distribution &values = is_net ? *field.net : field.raw;
    if (rule.is_per_packet && !field.per_packet)
        return {{}, "no packets: its units have no packet counts"};
    Interval found;
    if (is_mean(statistic)) {
        found = mean_of(field, statistic == Statistic::kTrimmed, is_net, rule.is_per_packet);
        if (!found.half95)
            return {{}, "too few slices for an interval"};
    } else if (rule.is_per_packet && std::fabs(field.per_packet->slices - 1) > 1e-9) {
        return {{},
                fmt::format("no {} per packet: a packet has {:.3g} slices (omit /packet)",
                            statistic_name(statistic), field.per_packet->slices)};
    } else if (found.value = quantile_of(values, statistic); !found.value) {
        return {{}, fmt::format("too few slices for {}", statistic_name(statistic))};
    } else {
        const bool is_bound = statistic == Statistic::kMin || statistic == Statistic::kMax ||
                              values.min == values.max;
        found.half95 = is_bound ? 0 : kPercentileShare * std::fabs(*found.value);
    }
    Figure out;
    const double scale = is_time ? report.clock.ns_per_tick() : 1;
    out.value = scale * found.value.value_or(NAN);
    out.half95 = scale * *found.half95;
    out.degrees = degrees_of(field.count);
    out.is_per_packet = rule.is_per_packet;
    out.is_whole = is_every_unit_counted(field, report);
    out.count = field.count;
    out.packets = field.packets;
    if (!std::isfinite(out.value) || !std::isfinite(out.half95))
        return {{}, "its values are too large"};
    return {out, ""};
}

std::string no_counter(const Rule &rule, const StatsReport &report, bool is_kernel)
{
    const auto &names = is_kernel ? report.kernel_counter_names : report.counter_names;
    return fmt::format("{} has no figure {} (counters: {})", report.path, rule.figure,
                       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

Found figure_of_slice(const Rule &rule, const RunsOfSide &side, size_t run, const SliceKey &key)
{
    const StatsReport &report = side.runs()[run];
    const SliceReport *slice = side.find(run, key.name, key.is_kernel);
    if (!slice)
        return {{}, "not in " + report.path};
    const std::string_view counter = counter_of(rule);
    const auto field =
        std::find_if(slice->values.begin(), slice->values.end(), [&](const FieldReport &value) {
            return value.field == "ticks" ? counter == "ns" : is_same_word(value.field, counter);
        });
    if (field == slice->values.end())
        return {{},
                counter == "ns" ? "no slice of it was timed"
                                : no_counter(rule, report, key.is_kernel)};
    std::string why = why_not_usable(*slice, *field, report);
    if (is_raw(rule) && !slice->is_incomplete && (field->field != "ticks" || report.clock.hz > 0))
        why.clear(); // raw values need no calibration
    if (!why.empty())
        return {{}, why};
    return figure_in(rule, *field, report);
}

double count_in(const std::string &figure, const SliceReport &slice)
{
    const std::pair<const char *, uint64_t> counts[] = {
        {"count", slice.count},
        {"migrated", slice.migrated},
        {"spans_loss", slice.spans_loss},
        {"unmatched", slice.unmatched_start + slice.unmatched_stop},
        {"too_deep", slice.too_deep},
        {"crossed", slice.crossed},
        {"below_noise", slice.below_noise},
        {"interrupted", slice.interrupted},
        {"uncounted", slice.uncounted}};
    for (const auto &[name, count] : counts)
        if (figure == name)
            return double(count);
    return NAN;
}

Found count_of_slice(const Rule &rule, const RunsOfSide &side, size_t run, const SliceKey &key)
{
    const StatsReport &report = side.runs()[run];
    Figure out;
    if (rule.figure == "lost") {
        if (!report.losses.has_footer || report.has_findings())
            return {{}, "the number of lost records is unknown: parts of the trace are missing"};
        out.value = double(report.losses.lost_sum());
        return {out, ""};
    }
    const SliceReport *slice = side.find(run, key.name, key.is_kernel);
    if (!slice)
        return {{}, "not in " + report.path};
    if (slice->is_incomplete)
        return {{}, "figures incomplete: parts of the trace are missing or damaged"};
    out.value = count_in(rule.figure, *slice);
    return {out, ""};
}

Found ratio(const Rule &rule, const RunsOfSide &side, size_t run, const SliceKey &key,
            const Divisor &divisor)
{
    if (divisor.matches != 1)
        return {{},
                fmt::format("{} slices match the divisor {} (one is needed)", divisor.matches,
                            rule.divisor[0].text)};
    const Found above = figure_of_slice(rule, side, run, key);
    const Found below = figure_of_slice(rule, side, run, divisor.slice);
    if (!above.figure || !below.figure)
        return {{}, above.figure ? divisor.slice.name + ": " + below.why : above.why};
    if (below.figure->value <= below.figure->half95)
        return {{}, divisor.slice.name + ": the divisor is not above zero"};
    Figure out = *above.figure;
    out.value /= below.figure->value;
    out.half95 =
        std::hypot(above.figure->half95, out.value * below.figure->half95) / below.figure->value;
    out.degrees = std::min(out.degrees, below.figure->degrees);
    out.is_whole = out.is_whole && below.figure->is_whole;
    return {out, ""};
}
} // namespace

std::vector<SliceKey> matching_slices(const RunsOfSide &side, const NameOrPattern &pattern)
{
    std::vector<SliceKey> out;
    for (size_t run = 0; run < side.runs().size(); ++run)
        for (const SliceReport &slice : side.runs()[run].slices) {
            if (!pattern.matches(slice.name))
                continue;
            const auto is_in = [&](size_t other) {
                return side.find(other, slice.name, slice.is_kernel) != nullptr;
            };
            bool is_new = true;
            for (size_t other = 0; other < run; ++other)
                is_new = is_new && !is_in(other);
            if (is_new)
                out.push_back({slice.name, slice.is_kernel});
        }
    return out;
}

Divisor divisor_of(const Rule &rule, const RunsOfSide &side)
{
    if (rule.divisor.empty())
        return {};
    const std::vector<SliceKey> found = matching_slices(side, rule.divisor[0]);
    return {found.size(), found.empty() ? SliceKey{} : found[0]};
}

Figures rule_figures(const Rule &rule, const RunsOfSide &side, const SliceKey &slice,
                     const Divisor &divisor)
{
    Figures out;
    for (size_t run = 0; run < side.runs().size(); ++run) {
        const Found found = is_count_figure(rule.figure) ? count_of_slice(rule, side, run, slice)
                            : rule.divisor.empty()       ? figure_of_slice(rule, side, run, slice)
                                                         : ratio(rule, side, run, slice, divisor);
        if (!found.figure)
            return {{}, side.of_run(run, found.why)};
        out.of_runs.push_back(*found.figure);
    }
    return out;
}

std::string_view counter_of(const Rule &rule)
{
    const std::string_view figure = rule.figure;
    return figure.starts_with("net_") || figure.starts_with("raw_") ? figure.substr(4) : figure;
}

std::string rule_unit(const Rule &rule)
{
    if (!rule.divisor.empty())
        return "";
    if (is_count_figure(rule.figure))
        return rule.figure == "lost" ? "records" : "slices";
    return std::string(counter_of(rule)) + (rule.is_per_packet ? "/packet" : "");
}

std::string field_of_rule(const Rule &rule, const StatsReport &report)
{
    const std::string_view counter = counter_of(rule);
    if (counter == "ns")
        return "ticks";
    for (const auto *names : {&report.counter_names, &report.kernel_counter_names})
        for (const std::string &name : *names)
            if (is_same_word(name, counter))
                return name;
    return "";
}
} // namespace nsdump
