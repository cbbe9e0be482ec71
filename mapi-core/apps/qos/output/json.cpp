// SPDX-License-Identifier: MIT
// json: figures -> one JSON object.
#include <nlohmann/json.hpp>

#include "qos/output/output.hpp"

namespace qos
{
namespace
{
using Json = nlohmann::ordered_json;

Json interval_json(const Interval &interval)
{
    return Json::array({interval.low, interval.high});
}

Json measured_json(const Measured &measured)
{
    Json json = {{"sent", measured.sent},
                 {"received", measured.received},
                 {"lost", measured.lost},
                 {"loss", measured.loss()},
                 {"loss_ci95", interval_json(measured.loss_interval)},
                 {"duplicates", measured.duplicates},
                 {"reordered", measured.reordered},
                 {"delay_ms", nullptr},
                 {"ipdv_ms", nullptr},
                 {"jitter_ms", nullptr}};
    if (const auto &delays = measured.delays)
        json["delay_ms"] = {{"min", delays->min_ms},
                            {"mean", delays->mean_ms},
                            {"mean_ci95", interval_json(delays->mean_interval_ms)},
                            {"max", delays->max_ms},
                            {"p50", delays->p50_ms},
                            {"p95", delays->p95_ms},
                            {"p99", delays->p99_ms}};
    if (const auto &variation = measured.variation) {
        json["ipdv_ms"] = {{"pairs", variation->pairs},
                           {"mean_abs", variation->mean_abs_ms},
                           {"min", variation->min_ms},
                           {"max", variation->max_ms}};
        json["jitter_ms"] = variation->jitter_ms;
    }
    return json;
}

Json flow_json(const FlowFigures &figures)
{
    const FlowKey &flow = figures.flow;
    Json json = {{"flow", flow_text(flow)},
                 {"protocol", flow.protocol},
                 {"source", address_text(flow.source, flow.version)},
                 {"source_port", flow.source_port},
                 {"destination", address_text(flow.destination, flow.version)},
                 {"destination_port", flow.destination_port}};
    json.update(measured_json(figures.measured));
    return json;
}

Json path_json(const PathFigures &path, uint64_t flows)
{
    Json json = {{"from", path.from}, {"to", path.to}};
    json.update(measured_json(path.total));
    json["only_at_receiver"] = path.only_at_receiver;
    json["undecided"] = path.undecided;
    json["flow_count"] = path.flows.size();
    json["flows"] = Json::array();
    for (size_t i = 0; i < printed_flows(path.flows.size(), flows); ++i)
        json["flows"].push_back(flow_json(path.flows[i]));
    json["intervals"] = Json::array();
    for (const IntervalFigures &interval : path.intervals) {
        Json entry = {{"begin_s", double(interval.begin_ns) / 1e9}};
        entry.update(measured_json(interval.measured));
        json["intervals"].push_back(std::move(entry));
    }
    return json;
}

Json point_json(const PointSummary &point)
{
    return {{"name", point.name},
            {"runs", point.runs},
            {"packets", point.packets},
            {"selected", point.selected},
            {"unread", point.unread},
            {"lost", point.lost},
            {"malformed", point.malformed},
            {"repeated", point.repeated},
            {"first_ns", point.first_ns},
            {"last_ns", point.last_ns},
            {"has_stopped", point.has_stopped},
            {"is_cut", point.is_cut}};
}

Json clock_json(const ClockModel &clock)
{
    Json json = {{"times_of", clock.is_by_second ? 1 : 0},
                 {"synchronised", clock.is_synchronised},
                 {"both_directions", clock.has_both_directions},
                 {"pieces", Json::array()},
                 {"steps", Json::array()}};
    for (const ClockPiece &piece : clock.pieces)
        json["pieces"].push_back({{"from_ns", piece.from_ns},
                                  {"to_ns", piece.to_ns},
                                  {"offset_ms", piece.offset_ns / 1e6},
                                  {"drift_ppm", piece.drift * 1e6}});
    for (const ClockStep &step : clock.steps)
        json["steps"].push_back({{"time_ns", step.time_ns}, {"step_ms", step.step_ns / 1e6}});
    return json;
}
} // namespace

std::string json_of(const Figures &figures, uint64_t flows)
{
    const Json json = {
        {"rate", figures.rate},
        {"points", Json::array({point_json(figures.from), point_json(figures.to)})},
        {"common", figures.has_common_time() ? Json{{"first_ns", figures.common.first_ns},
                                                    {"last_ns", figures.common.last_ns}}
                                             : Json(nullptr)},
        {"clock", clock_json(figures.clock)},
        {"digests",
         {{"collided", figures.collided_digests},
          {"collided_packets", figures.collided_sightings},
          {"expected_collisions", figures.expected_collisions},
          {"ambiguous_packets", figures.ambiguous_packets}}},
        {"direction_assumed", figures.is_direction_assumed},
        {"interval_s", figures.interval_s},
        {"paths",
         Json::array({path_json(figures.forward, flows), path_json(figures.backward, flows)})},
        {"notes", figures.notes()}};
    return json.dump(1) + "\n";
}
} // namespace qos
