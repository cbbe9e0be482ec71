// SPDX-License-Identifier: MIT
// export: a report -> CSV, one row for each slice and field.
#include "export/exporter.hpp"

#include <iterator>

#include <fmt/format.h>

#include "export/escape.hpp"

namespace nsdump
{
namespace
{
constexpr const char *kHeader =
    "name,file,line,field,unit,count,packets,raw_mean,raw_sd,raw_min,raw_max,raw_p50,raw_p90,raw_"
    "p99,raw_p999,raw_total,"
    "net_mean,net_ci95,net_sd,net_min,net_max,net_p50,net_p90,net_p99,net_p999,net_total,self_mean,"
    "self_total,"
    "per_packet_raw,per_packet_net,per_packet_net_ci95,per_packet_self,"
    "migrated,spans_loss,unmatched_start,unmatched_stop,too_deep,below_noise,"
    "stepped,self_ci95,per_packet_self_ci95,interrupted,uncounted,kernel,interrupts,switches,taken_"
    "ticks,crossed,incomplete,"
    "raw_trimmed_mean,net_trimmed_mean,net_trimmed_ci95,per_packet_net_trimmed,"
    "per_packet_net_trimmed_ci95\n";

void add_number(std::string &out, std::optional<double> value)
{
    out += ',';
    if (value)
        fmt::format_to(std::back_inserter(out), "{:.10g}", *value);
}

void add_distribution(std::string &out, const Distribution *values, bool has_interval)
{
    const auto add = [&](double Distribution::*member) {
        add_number(out, values ? std::optional<double>(values->*member) : std::nullopt);
    };
    add(&Distribution::mean);
    if (has_interval)
        add_number(out, values ? values->ci95 : std::nullopt);
    for (const auto member : {&Distribution::sd, &Distribution::min, &Distribution::max})
        add(member);
    for (const auto quantile :
         {&Distribution::p50, &Distribution::p90, &Distribution::p99, &Distribution::p999})
        add_number(out, values ? values->*quantile : std::nullopt);
    add(&Distribution::total);
}

void add_classes(std::string &out, const SliceReport &slice)
{
    fmt::format_to(std::back_inserter(out), ",{},{},{},{},{},{}", slice.migrated, slice.spans_loss,
                   slice.unmatched_start, slice.unmatched_stop, slice.too_deep, slice.below_noise);
}

// Columns that were added later are at the end, so that the position of the others is unchanged.
void add_later_columns(std::string &out, const SliceReport &slice, const FieldReport *field)
{
    const bool has_packets = field && field->per_packet;
    fmt::format_to(std::back_inserter(out), ",{}", slice.stepped);
    add_number(out, field && field->self ? field->self->ci95 : std::nullopt);
    add_number(out, has_packets ? field->per_packet->self_ci95 : std::nullopt);
    fmt::format_to(std::back_inserter(out), ",{},{},{:d},{},{},{:.10g},{},{:d}", slice.interrupted,
                   slice.uncounted, slice.is_kernel, slice.interrupts, slice.switches,
                   slice.taken_ticks, slice.crossed, slice.is_incomplete);
    const bool has_net = field && field->net;
    add_number(out, field ? std::optional(field->raw.trimmed_mean) : std::nullopt);
    add_number(out, has_net ? std::optional(field->net->trimmed_mean) : std::nullopt);
    add_number(out, has_net ? field->net->trimmed_ci95 : std::nullopt);
    add_number(out, has_packets ? field->per_packet->net_trimmed : std::nullopt);
    add_number(out, has_packets ? field->per_packet->net_trimmed_ci95 : std::nullopt);
    out += '\n';
}

void add_place(std::string &out, const SliceReport &slice)
{
    fmt::format_to(std::back_inserter(out), "{},{},{},", csv_field(slice.name),
                   csv_field(slice.file), slice.line);
}
} // namespace

std::string stats_csv(const StatsReport &report)
{
    std::string out = kHeader;
    for (const SliceReport &slice : report.slices) {
        for (const FieldReport &field : slice.values) {
            add_place(out, slice);
            fmt::format_to(std::back_inserter(out), "{},{},{},{}", csv_field(field.field),
                           csv_field(field.unit), field.count, field.packets);
            add_distribution(out, &field.raw, false);
            add_distribution(out, field.net ? &*field.net : nullptr, true);
            add_number(out, field.self ? std::optional(field.self->mean) : std::nullopt);
            add_number(out, field.self ? std::optional(field.self->total) : std::nullopt);
            const PerPacket none;
            const PerPacket &per_packet = field.per_packet ? *field.per_packet : none;
            add_number(out, field.per_packet ? std::optional(per_packet.raw) : std::nullopt);
            add_number(out, per_packet.net);
            add_number(out, per_packet.net_ci95);
            add_number(out, per_packet.self);
            add_classes(out, slice);
            add_later_columns(out, slice, &field);
        }
        if (slice.values.empty()) { // only unpaired or excluded slices: a row without figures
            add_place(out, slice);
            out += "ticks,,0,0" + std::string(25, ',');
            add_classes(out, slice);
            add_later_columns(out, slice, nullptr);
        }
    }
    return out;
}
} // namespace nsdump
