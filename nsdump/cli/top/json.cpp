// SPDX-License-Identifier: MIT
// cli: an interval and its rows -> a line of JSON, schema netslice-top-1.
#include <nlohmann/json.hpp>

#include "analyse/losses.hpp"
#include "cli/top/text.hpp"

namespace nsdump
{
namespace
{
using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json value_json(const TopValue &value, bool is_net)
{
    return {{"mean", value.mean},
            {"ci95", or_null(value.ci95)},
            {"total", value.total},
            {"corrected", is_net}};
}

Json row_json(const TopRow &row)
{
    Json json = {{"name", row.name},
                 {"count", row.count},
                 {"per_s", row.per_s},
                 {"ns", row.ns ? value_json(*row.ns, row.is_net) : Json(nullptr)},
                 {"ns_per_packet", or_null(row.packet_ns)},
                 {"ns_per_packet_ci95", or_null(row.packet_ns_ci95)},
                 {"cpu_share", or_null(row.share)},
                 {"left_out", row.left_out}};
    json["counters"] = Json::object();
    for (const TopCounter &counter : row.counters) {
        Json one = value_json(counter.value, counter.is_net);
        one["per_packet"] = or_null(counter.per_packet);
        one["per_packet_ci95"] = or_null(counter.per_packet_ci95);
        json["counters"][counter.name] = std::move(one);
    }
    return json;
}
} // namespace

std::string top_json(const TopInterval &interval, const std::vector<TopRow> &rows)
{
    const StatsReport &report = interval.live.report;
    Json json = {
        {"schema", "netslice-top-1"},
        {"pid", interval.pid},
        {"program", interval.program},
        {"elapsed_s", interval.elapsed_s},
        {"interval_s", interval.seconds},
        {"clock",
         {{"source", report.clock.source}, {"mode", report.clock.mode}, {"hz", report.clock.hz}}},
        {"records", report.records},
        {"unreadable_records", interval.live.unread_records}};
    json["lost"] = Json::object();
    for (size_t cause = 0; cause < interval.lost.size(); ++cause)
        json["lost"][lost_name(cause)] = interval.lost[cause];
    json["probe_pair_ns"] = or_null(interval.pair_ns());
    json["probes_cpu_share"] = or_null(interval.probes_share());
    json["unmatched_since_begin"] = {{"starts", report.classes.unmatched_start},
                                     {"stops", report.classes.unmatched_stop},
                                     {"too_deep", report.classes.too_deep}};
    json["slices"] = Json::array();
    for (const TopRow &row : rows)
        json["slices"].push_back(row_json(row));
    json["program_ended"] = interval.has_ended;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}
} // namespace nsdump
