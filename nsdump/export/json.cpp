// SPDX-License-Identifier: MIT
// export: a report -> JSON of schema netslice-stats-1.
#include "export/exporter.hpp"
#include "export/thinning.hpp"

namespace nsdump
{
namespace
{
template <class Value> Json or_null(const std::optional<Value> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json lost_json(const std::array<uint64_t, kLostCauses> &lost, uint64_t other)
{
    Json json = Json::object();
    for (size_t cause = 0; cause < kLostCauses; ++cause)
        json[lost_name(cause)] = lost[cause];
    if (other > 0)
        json["other"] = other;
    return json;
}

Json losses_json(const StatsReport &report)
{
    const Losses &losses = report.losses;
    Json json = {{"issued", losses.is_issued_known() ? Json(losses.issued) : Json(nullptr)},
                 {"drained", losses.drained}};
    json["lost"] = losses.has_footer ? lost_json(losses.lost, losses.lost_other)
                                     : Json{{"without_cause", losses.lost_without_cause}};
    json["equation_holds"] = or_null(losses.equation_holds);
    json["by_cpu"] = Json::array();
    for (const CpuLosses &cpu : losses.by_cpu)
        json["by_cpu"].push_back({{"cpu", cpu.cpu},
                                  {"kernel", cpu.is_kernel},
                                  {"issued", cpu.issued},
                                  {"drained", cpu.drained},
                                  {"lost", lost_json(cpu.lost, cpu.lost_other)}});
    json["damaged_bytes"] = report.damaged_bytes;
    json["damaged_chunks"] = report.damaged_chunks;
    json["missing_chunks"] = report.missing_chunks;
    json["dropped_sites"] = losses.dropped_sites;
    json["kernel_totals_missing"] = losses.kernel_totals_missing;
    json["unnamed_kernel_sites"] = losses.unnamed_kernel_sites;
    return json;
}

Json rows_json(const std::vector<std::string> &counters, const std::vector<CalibrationRow> &rows)
{
    Json json = Json::array();
    for (const CalibrationRow &row : rows) {
        Json one;
        one["cpu"] = row.cpu == NSLICE_ANY_CPU ? Json("any") : Json(row.cpu);
        one["kind"] = probe_name(row.probe);
        one["field"] = field_name(row.field, counters);
        one["inner"] = row.inner;
        one["inner_ci95"] = row.inner_ci95;
        one["outer"] = row.outer;
        one["outer_ci95"] = row.outer_ci95;
        one["inner_hidden"] = row.hidden ? Json(row.hidden->inner) : Json(nullptr);
        one["outer_hidden"] = row.hidden ? Json(row.hidden->outer) : Json(nullptr);
        one["inner_overtaking"] = row.overtaking ? Json(row.overtaking->inner) : Json(nullptr);
        one["outer_overtaking"] = row.overtaking ? Json(row.overtaking->outer) : Json(nullptr);
        one["samples"] = row.samples;
        one["trimmed"] = row.trimmed;
        json.push_back(std::move(one));
    }
    return json;
}

Json calibration_json(const StatsReport &report)
{
    Json drift = Json::array();
    for (const Drift &one : report.drift) {
        Json on_cpu;
        if (one.on_cpu)
            on_cpu = {
                {"cpu", one.on_cpu->cpu}, {"start", one.on_cpu->start}, {"end", one.on_cpu->end}};
        drift.push_back({{"kind", probe_name(one.probe)},
                         {"field", field_name(one.field, one.is_kernel ? report.kernel_counter_names
                                                                       : report.counter_names)},
                         {"what", one.is_inner ? "inner" : "outer"},
                         {"start", one.start},
                         {"end", one.end},
                         {"significant", one.is_significant},
                         {"on_cpu", std::move(on_cpu)},
                         {"kernel", one.is_kernel}});
    }
    return {{"start", rows_json(report.counter_names, report.calibration_start)},
            {"end", rows_json(report.counter_names, report.calibration_end)},
            {"kernel", rows_json(report.kernel_counter_names, report.calibration_kernel)},
            {"kernel_end", rows_json(report.kernel_counter_names, report.calibration_kernel_end)},
            {"drift", std::move(drift)}};
}

Json distribution_json(const Distribution &values)
{
    return {{"mean", values.mean},        {"sd", values.sd},
            {"min", values.min},          {"max", values.max},
            {"p50", or_null(values.p50)}, {"p90", or_null(values.p90)},
            {"p99", or_null(values.p99)}, {"p999", or_null(values.p999)},
            {"total", values.total},      {"trimmed_mean", values.trimmed_mean}};
}

Json field_json(const FieldReport &field)
{
    Json json = {{"field", field.field},
                 {"unit", field.unit},
                 {"count", field.count},
                 {"packets", field.packets},
                 {"raw", distribution_json(field.raw)}};
    json["net"] = nullptr;
    if (field.net) {
        json["net"] = distribution_json(*field.net);
        json["net"]["ci95"] = or_null(field.net->ci95);
        json["net"]["trimmed_ci95"] = or_null(field.net->trimmed_ci95);
    }
    json["self"] = field.self ? Json{{"mean", field.self->mean},
                                     {"total", field.self->total},
                                     {"ci95", or_null(field.self->ci95)}}
                              : Json(nullptr);
    json["per_packet"] = nullptr;
    if (field.per_packet)
        json["per_packet"] = {{"raw", field.per_packet->raw},
                              {"net", or_null(field.per_packet->net)},
                              {"net_ci95", or_null(field.per_packet->net_ci95)},
                              {"self", or_null(field.per_packet->self)},
                              {"raw_trimmed", field.per_packet->raw_trimmed},
                              {"net_trimmed", or_null(field.per_packet->net_trimmed)},
                              {"net_trimmed_ci95", or_null(field.per_packet->net_trimmed_ci95)},
                              {"self_ci95", or_null(field.per_packet->self_ci95)}};
    json["histogram"] = Json::array();
    for (const Bucket &bucket : field.histogram)
        json["histogram"].push_back(Json::array({bucket.low, bucket.high, bucket.count}));
    return json;
}

Json slice_json(const SliceReport &slice, bool has_epochs)
{
    Json json = {{"name", slice.name},
                 {"file", slice.file},
                 {"line", slice.line},
                 {"count", slice.count},
                 {"migrated", slice.migrated},
                 {"spans_loss", slice.spans_loss},
                 {"unmatched_start", slice.unmatched_start},
                 {"unmatched_stop", slice.unmatched_stop},
                 {"too_deep", slice.too_deep},
                 {"below_noise", slice.below_noise},
                 {"stepped", slice.stepped},
                 {"interrupted", slice.interrupted},
                 {"kernel", slice.is_kernel},
                 {"interrupts", slice.interrupts},
                 {"switches", slice.switches},
                 {"taken_ticks", slice.taken_ticks},
                 {"uncounted", slice.uncounted},
                 {"crossed", slice.crossed},
                 {"incomplete", slice.is_incomplete},
                 {"packets", slice.packets}};
    json["values"] = Json::array();
    for (const FieldReport &field : slice.values)
        json["values"].push_back(field_json(field));
    if (has_epochs)
        json["thinning"] = slice.thinning ? slice_thinning_json(*slice.thinning) : Json(nullptr);
    return json;
}

Json classes_json(const Classes &classes)
{
    return {{"interrupted", classes.interrupted},
            {"uncounted", classes.uncounted},
            {"migrated", classes.migrated},
            {"spans_loss", classes.spans_loss},
            {"unmatched_start", classes.unmatched_start},
            {"unmatched_stop", classes.unmatched_stop},
            {"too_deep", classes.too_deep},
            {"below_noise", classes.below_noise},
            {"unknown_kind", classes.unknown_kind},
            {"malformed", classes.malformed},
            {"crossed", classes.crossed}};
}

Json range_json(const ReportRange &range)
{
    Json json;
    json["from_ns"] = range.from_ns ? Json(*range.from_ns) : Json(nullptr);
    json["to_ns"] = range.to_ns ? Json(*range.to_ns) : Json(nullptr);
    return json;
}

Json clock_json(const Clock &clock)
{
    Json json = {{"source", clock.source}, {"mode", clock.mode}};
    json["hz"] = clock.hz > 0 ? Json(clock.hz) : Json(nullptr);
    json["step_ticks"] = clock.step_ticks > 0 ? Json(clock.step_ticks) : Json(nullptr);
    json["read_ticks"] = clock.read_ticks > 0 ? Json(clock.read_ticks) : Json(nullptr);
    return json;
}
} // namespace

std::string stats_json(const StatsReport &report)
{
    Json json;
    json["schema"] = "netslice-stats-1";
    json["trace"] = {{"path", report.path},
                     {"bytes", report.bytes},
                     {"format_version", report.format_version},
                     {"session_uuid", report.session_uuid},
                     {"end", report.end},
                     {"records", report.records},
                     {"interrupted", report.is_interrupted}};
    if (report.range)
        json["range"] = range_json(*report.range);
    json["info"] = Json::object();
    for (const auto &[key, value] : report.info)
        json["info"][key] = value;
    json["clock"] = clock_json(report.clock);
    json["counters"] = {{"source", report.counter_source}, {"names", report.counter_names}};
    json["kernel_counters"] = report.kernel_counter_names;
    json["losses"] = losses_json(report);
    json["calibration"] = calibration_json(report);
    json["units"] = Json::array();
    for (const UnitReport &unit : report.units)
        json["units"].push_back({{"name", unit.name},
                                 {"kernel", unit.is_kernel},
                                 {"units", unit.units},
                                 {"packets", unit.packets},
                                 {"bytes", unit.wire_bytes},
                                 {"incomplete", unit.is_incomplete}});
    json["slices"] = Json::array();
    const bool has_thinning = report.thinning || report.program_thinning;
    for (const SliceReport &slice : report.slices)
        json["slices"].push_back(slice_json(slice, has_thinning));
    json["marks"] = Json::array();
    for (const MarkReport &mark : report.marks)
        json["marks"].push_back({{"name", mark.name},
                                 {"kernel", mark.is_kernel},
                                 {"count", mark.count},
                                 {"mean", mark.mean},
                                 {"min", mark.min},
                                 {"max", mark.max},
                                 {"sum", mark.sum},
                                 {"incomplete", mark.is_incomplete}});
    json["classes"] = classes_json(report.classes);
    if (report.thinning)
        json["thinning"] = thinning_json(*report.thinning);
    if (report.program_thinning)
        json["program_thinning"] = thinning_json(*report.program_thinning);
    json["incomplete"] = report.incomplete;
    json["warnings"] = report.warnings;
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
} // namespace nsdump
