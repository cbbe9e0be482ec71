// SPDX-License-Identifier: MIT
// cli: the report of an interval -> rows to show, filtered and sorted.
#include "cli/top/rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace nsdump
{
namespace
{
TopValue value_of(const FieldReport &field, double scale)
{
    const Distribution &from = field.net ? *field.net : field.raw;
    TopValue value = {from.mean * scale, std::nullopt, from.total * scale};
    if (from.ci95)
        value.ci95 = *from.ci95 * scale;
    return value;
}

std::optional<double> per_packet(const FieldReport &field, double scale)
{
    if (!field.per_packet)
        return std::nullopt;
    if (!field.net)
        return scale * field.per_packet->raw;
    if (!field.per_packet->net)
        return std::nullopt;
    return scale * *field.per_packet->net;
}

std::optional<double> per_packet_ci95(const FieldReport &field, double scale)
{
    if (!field.per_packet || !field.net || !field.per_packet->net_ci95)
        return std::nullopt;
    return scale * *field.per_packet->net_ci95;
}

void add_time(TopRow &row, const FieldReport &field, const TopInterval &interval)
{
    const Clock &clock = interval.live.report.clock;
    if (!(clock.hz > 0))
        return;
    const double ns_per_tick = clock.ns(1);
    row.is_net = field.net.has_value();
    row.ns = value_of(field, ns_per_tick);
    row.packet_ns = per_packet(field, ns_per_tick);
    row.packet_ns_ci95 = per_packet_ci95(field, ns_per_tick);
    if (interval.seconds > 0)
        row.share = row.ns->total / (interval.seconds * 1e9);
}

TopRow row_of(const SliceReport &slice, const TopInterval &interval)
{
    TopRow row;
    row.name = slice.name;
    row.count = slice.count;
    row.per_s = interval.seconds > 0 ? double(slice.count) / interval.seconds : 0;
    row.left_out = slice.migrated + slice.spans_loss + slice.crossed;
    for (const FieldReport &field : slice.values) {
        if (field.field == "ticks")
            add_time(row, field, interval);
        else
            row.counters.push_back({field.field, value_of(field, 1), per_packet(field, 1),
                                    per_packet_ci95(field, 1), field.net.has_value()});
    }
    return row;
}

// Rows without the value come last in either direction.
double key_of(const TopRow &row, const TopOrder &order)
{
    const double none = (order.is_reverse ? 1 : -1) * std::numeric_limits<double>::infinity();
    switch (order.sort) {
    case TopSort::kRate: return row.per_s;
    case TopSort::kPacket: return row.packet_ns.value_or(none);
    case TopSort::kInstructions:
        if (const TopCounter *counter = main_counter(row))
            return counter->value.total;
        return none;
    case TopSort::kTime: break;
    }
    return row.ns ? row.ns->total : none;
}
} // namespace

uint64_t TopInterval::lost_sum() const
{
    return std::accumulate(lost.begin(), lost.end(), uint64_t{0});
}

std::optional<double> TopInterval::pair_ns() const
{
    if (!live.pair_ticks || !(live.report.clock.hz > 0))
        return std::nullopt;
    return live.report.clock.ns(*live.pair_ticks);
}

std::optional<double> TopInterval::probes_share() const
{
    const std::optional<double> one_ns = pair_ns();
    if (!one_ns || !(seconds > 0))
        return std::nullopt;
    uint64_t pairs = 0;
    for (const SliceReport &slice : live.report.slices)
        pairs += slice.count + slice.migrated + slice.spans_loss + slice.crossed;
    return double(pairs) * *one_ns / (seconds * 1e9);
}

const TopCounter *main_counter(const TopRow &row)
{
    const auto found =
        std::find_if(row.counters.begin(), row.counters.end(),
                     [](const TopCounter &counter) { return counter.name == "instructions"; });
    if (found != row.counters.end())
        return &*found;
    return row.counters.empty() ? nullptr : &row.counters.front();
}

std::vector<TopRow> rows_of(const TopInterval &interval, const TopOrder &order)
{
    std::vector<TopRow> rows;
    for (const SliceReport &slice : interval.live.report.slices) {
        TopRow row = row_of(slice, interval);
        if (row.count + row.left_out > 0 && row.name.find(order.filter) != row.name.npos)
            rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [&](const TopRow &one, const TopRow &two) {
        const double first = key_of(one, order), second = key_of(two, order);
        return order.is_reverse ? first < second : first > second;
    });
    return rows;
}
} // namespace nsdump
