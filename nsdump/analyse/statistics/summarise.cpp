// SPDX-License-Identifier: MIT
// analyse: sums of the collector -> figures of the report.
#include "analyse/statistics/summarise.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "analyse/correct/interval.hpp"

namespace nsdump
{
namespace
{
// Values that are needed to resolve a quantile; for its share q, 1 / (1 - q) of them.
constexpr std::array kQuantiles = {0.5, 0.9, 0.99, 0.999};
constexpr std::array<uint64_t, kQuantiles.size()> kValuesNeeded = {2, 10, 100, 1000};

// `buckets` and `trimmed` belong to the same values.
Distribution distribution(const Moments &moments, uint64_t count,
                          const std::vector<Bucket> &buckets, const TrimmedMean &trimmed)
{
    Distribution out;
    out.mean = moments.mean(count);
    out.sd = moments.sd(count);
    out.min = moments.min();
    out.max = moments.max();
    out.total = moments.sum();
    const auto quantiles = quantiles_of(buckets, kQuantiles);
    const std::array members = {&out.p50, &out.p90, &out.p99, &out.p999};
    for (size_t i = 0; i < members.size(); ++i)
        if (count >= kValuesNeeded[i]) // a bucket's middle may lie outside the values' range
            *members[i] = std::clamp(quantiles[i], out.min, out.max);
    out.trimmed_mean = trimmed.mean;
    return out;
}

// Errors that all slices share do not shrink with the number of slices.
OtherErrors errors_of_mean(const SubtractedErrors &subtracted, uint64_t count, double step,
                           double bound)
{
    const double n = double(count);
    return {rounding_ci95(step, count), subtracted.uncertainty().scaled(1 / n),
            subtracted.bound() / n + bound};
}

double standard_error(const Moments &values, uint64_t count)
{
    return values.sd(count) / std::sqrt(double(count));
}

std::optional<double> interval_of_trimmed(const Sampling &mean, double alike, OtherErrors errors,
                                          const TrimmedMean &trimmed)
{
    errors.bound += trimmed.rounding_bound;
    return interval95(
        {alike * trimmed.standard_error, std::fmin(mean.degrees, double(trimmed.kept) - 1)},
        errors);
}

// `slices`: number of slices in units per packet.
std::optional<double> interval_of_ratio(OtherErrors errors, const PerUnit &units, double slices)
{
    errors.rounding_ci95 *= slices;
    errors.constants = errors.constants.scaled(slices);
    errors.bound *= slices;
    return interval95(sampling_of(units.blocks()), errors);
}

std::optional<double> times(const std::optional<double> &value, double factor)
{
    return value ? std::optional(*value * factor) : std::nullopt;
}

PerPacket per_packet_of(const FieldStats &stats, const FieldReport &field,
                        const OtherErrors &errors)
{
    const double packets = double(stats.packets);
    const double slices = double(stats.unit_count) / packets;
    PerPacket out;
    out.slices = slices;
    out.raw = stats.unit_raw / packets;
    out.raw_trimmed = field.raw.trimmed_mean * slices;
    if (field.net) {
        out.net = stats.unit_net / packets;
        out.net_ci95 = interval_of_ratio(errors, stats.per_unit, slices);
        out.net_sampling_ci95 =
            interval_of_ratio({errors.rounding_ci95, {}, 0}, stats.per_unit, slices);
        out.net_trimmed = field.net->trimmed_mean * slices;
        out.net_trimmed_ci95 = times(field.net->trimmed_ci95, slices);
    }
    if (field.self) {
        out.self = stats.unit_self / packets;
        out.self_ci95 = times(field.self->ci95, slices);
    }
    return out;
}

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return char(std::tolower(letter)); });
    return text;
}

template <class Stats> struct Named {
    NameId name;
    const Stats *stats;
};

template <class Stats> void sort_by_appearance(std::vector<Named<Stats>> &list)
{
    std::sort(list.begin(), list.end(), [](const Named<Stats> &a, const Named<Stats> &b) {
        return a.stats->first_seen < b.stats->first_seen;
    });
}

SliceReport slice_report(const NameTable &names, NameId name, const SliceStats *stats,
                         const UnpairedCounts &counts, const Side &side, const Clock &clock)
{
    SliceReport out;
    out.is_kernel = side.is_kernel;
    out.way = names[name].way;
    out.name = names[name].text;
    out.file = names[name].file;
    out.line = names[name].line;
    out.unmatched_start = counts.unmatched_start;
    out.unmatched_stop = counts.unmatched_stop;
    out.too_deep = counts.too_deep;
    if (!stats)
        return out;
    out.count = stats->ticks.count + stats->stepped;
    out.stepped = stats->stepped;
    out.interrupted = stats->interrupted;
    out.interrupts = stats->interrupts;
    out.switches = stats->switches;
    out.taken_ticks = stats->taken_ticks;
    out.uncounted = stats->uncounted;
    out.migrated = stats->migrated;
    out.spans_loss = stats->spans_loss;
    out.crossed = stats->crossed;
    out.below_noise = stats->ticks.below_noise;
    out.packets = stats->ticks.packets;
    if (stats->ticks.count > 0) {
        // What the kernel's records measured: its slices and functions by uprobe, or what is taken
        // from the slices of programs.
        const bool is_on_line = side.is_kernel || (out.way != 0 && out.way <= kKernelWays);
        const double on_line = is_on_line
                                   ? stats->ticks.raw.mean(stats->ticks.count)
                                   : std::fabs(stats->taken_ticks) / double(stats->ticks.count);
        out.values.push_back(summarise_field(stats->ticks, clock.step_ticks, side.keeps_histograms,
                                             side.line.of(on_line)));
        out.values.back().field = "ticks";
        out.values.back().unit = clock.source == "tsc" ? "TSC cycles" : "ticks";
    }
    for (size_t i = 0; i < stats->counters.size(); ++i)
        out.values.push_back(
            counter_report(stats->counters[i], side.counter_names[i], side.keeps_histograms));
    return out;
}

std::vector<SliceReport> slices_of(const NameTable &names, const Unpaired &unpaired,
                                   StatsCollector &stats, const Side &side, const Clock &clock)
{
    std::vector<SliceReport> out;
    std::vector<Named<SliceStats>> seen;
    std::vector<NameId> only_unpaired;
    for (NameId name = 0; name < names.size(); ++name) {
        if (const SliceStats *slice = stats.slice_stats(name))
            seen.push_back({name, slice});
        else if (unpaired.slices[name].any())
            only_unpaired.push_back(name);
    }
    sort_by_appearance(seen);
    out.reserve(seen.size() + only_unpaired.size());
    for (const auto &[name, slice] : seen)
        out.push_back(
            slice_report(names, name, stats.take(name).get(), unpaired.slices[name], side, clock));
    for (const NameId name : only_unpaired)
        out.push_back(slice_report(names, name, nullptr, unpaired.slices[name], side, clock));
    return out;
}

void add_units_and_marks(const NameTable &names, const StatsCollector &stats, bool is_kernel,
                         StatsReport &report)
{
    std::vector<Named<UnitStats>> units;
    std::vector<Named<MarkStats>> marks;
    for (NameId name = 0; name < names.size(); ++name) {
        if (const UnitStats *unit = stats.unit_stats(name))
            units.push_back({name, unit});
        if (const MarkStats *mark = stats.mark_stats(name))
            marks.push_back({name, mark});
    }
    sort_by_appearance(units);
    sort_by_appearance(marks);
    for (const auto &[name, unit] : units)
        report.units.push_back(
            {is_kernel, names[name].text, unit->units, unit->packets, unit->wire_bytes, false});
    for (const auto &[name, mark] : marks)
        report.marks.push_back({is_kernel, names[name].text, mark->count,
                                mark->sum / double(mark->count), mark->min, mark->max, mark->sum,
                                false});
}
} // namespace

LineError line_error_of(const Info &info, double ticks_per_ns)
{
    const auto number = [&](const char *key) {
        const auto found = info.find(key);
        const double value = found != info.end() ? std::strtod(found->second.c_str(), nullptr) : 0;
        return std::isfinite(value) && value > 0 ? value : 0;
    };
    return {number("kernel.clock.slope_error"), number("kernel.clock.residual_ns") * ticks_per_ns};
}

FieldReport summarise_field(const FieldStats &stats, double step, bool keeps_histogram,
                            double bound)
{
    FieldReport out;
    out.count = stats.count;
    out.packets = stats.packets;
    std::vector<Bucket> buckets = stats.raw_histogram.buckets();
    out.raw = distribution(stats.raw, stats.count, buckets,
                           trimmed_mean_of(buckets, kTrimmedShare, step));
    const bool has_net = stats.net_count > 0;
    const OtherErrors errors = errors_of_mean(stats.net_errors, stats.net_count, step, bound);
    const Sampling sampling = sampling_of(stats.net_blocks);
    // Factor by which correlated neighbours widen the error of the mean of net, also applied to the
    // trimmed mean and to self.
    const double independent = standard_error(stats.net, stats.net_count);
    const double alike = independent > 0 ? sampling.standard_error / independent : 1;
    if (has_net) {
        buckets = stats.net_histogram.buckets();
        const TrimmedMean trimmed = trimmed_mean_of(buckets, kTrimmedShare, step);
        out.net = distribution(stats.net, stats.net_count, buckets, trimmed);
        out.net->ci95 = interval95(sampling, errors);
        out.net->sampling_ci95 = interval95(sampling, {errors.rounding_ci95, {}, 0});
        out.net->trimmed_ci95 = interval_of_trimmed(sampling, alike, errors, trimmed);
    }
    if (stats.self_count > 0 && stats.self_count == stats.count)
        out.self = SelfValue{
            stats.self.mean(stats.self_count), stats.self.sum(),
            interval95({alike * standard_error(stats.self, stats.self_count), sampling.degrees},
                       errors_of_mean(stats.self_errors, stats.self_count, step, bound))};
    if (stats.packets > 0)
        out.per_packet = per_packet_of(stats, out, errors);
    if (keeps_histogram)
        out.histogram = std::move(buckets);
    return out;
}

FieldReport counter_report(const FieldStats &stats, const std::string &counter,
                           bool keeps_histogram)
{
    FieldReport out = summarise_field(stats, 0, keeps_histogram);
    out.field = counter;
    out.unit = lower(counter);
    return out;
}

void summarise(const NameTable &names, const Unpaired &unpaired, StatsCollector &stats,
               const Side &side, StatsReport &report)
{
    add_units_and_marks(names, stats, side.is_kernel, report);
    Classes &classes = report.classes;
    for (NameId name = 0; name < names.size(); ++name) {
        const UnpairedCounts &unit_counts = unpaired.units[name];
        classes.unmatched_start += unit_counts.unmatched_start;
        classes.unmatched_stop += unit_counts.unmatched_stop;
        classes.too_deep += unit_counts.too_deep;
    }
    for (SliceReport &slice : slices_of(names, unpaired, stats, side, report.clock)) {
        classes.interrupted += slice.interrupted;
        classes.uncounted += slice.uncounted;
        classes.uncounted_kernel += slice.is_kernel ? slice.uncounted : 0;
        classes.migrated += slice.migrated;
        classes.spans_loss += slice.spans_loss;
        classes.crossed += slice.crossed;
        classes.unmatched_start += slice.unmatched_start;
        classes.unmatched_stop += slice.unmatched_stop;
        classes.too_deep += slice.too_deep;
        classes.below_noise += slice.below_noise;
        report.slices.push_back(std::move(slice));
    }
    classes.malformed += unpaired.malformed_events;
}
} // namespace nsdump
