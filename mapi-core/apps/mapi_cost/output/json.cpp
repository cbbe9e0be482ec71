// SPDX-License-Identifier: MIT
// json: results -> schema netslice-mapi-cost-1.  Values that were not measured or not determined
// are null, never zero.
#include "text.hpp"

#include <nlohmann/json.hpp>

namespace mapi_cost
{
namespace
{
using Json = nlohmann::ordered_json;

Json estimate_json(const std::optional<Estimate> &estimate)
{
    return estimate ? Json{{"value", estimate->value}, {"ci95", estimate->ci95}} : Json(nullptr);
}

Json terms_json(const AdditiveModel &model)
{
    Json terms = Json::array();
    for (const ModelTerm &term : model.terms)
        terms.push_back({{"id", term_id(term.term)},
                         {"name", term_name(term.term)},
                         {"cost", estimate_json(term.cost)}});
    return terms;
}

Json row_json(const ModelRow &row)
{
    Json terms = Json::object();
    for (const auto &[term, times] : row.observed.terms)
        terms[term_id(term)] = times;
    const bool is_tested = row.model.has_value();
    return {{"id", row.observed.scenario.id},
            {"terms", std::move(terms)},
            {"net", row.observed.value},
            {"error", row.error},
            {"model", estimate_json(row.model)},
            {"residual", is_tested ? Json(row.residual) : Json(nullptr)},
            {"residual_ci95", is_tested ? Json(row.residual_ci95) : Json(nullptr)},
            {"verdict", verdict_id(row.verdict)},
            {"cause", row.cause ? Json(row.cause) : Json(nullptr)},
            {"in_fit", row.is_in_fit}};
}

Json model_json(const AdditiveModel &model)
{
    Json rows = Json::array();
    for (const ModelRow &row : model.rows)
        rows.push_back(row_json(row));
    std::vector<std::string> left_out = model.unused;
    left_out.insert(left_out.end(), model.without_interval.begin(), model.without_interval.end());
    return {{"terms", terms_json(model)},
            {"scenarios", std::move(rows)},
            {"not_in_model", std::move(left_out)},
            {"spare", model.spare},
            {"holds", model.does_hold}};
}

Json additive_json(const AdditiveModels &models)
{
    const auto or_null = [](const std::optional<AdditiveModel> &model) {
        return model ? model_json(*model) : Json(nullptr);
    };
    return {{"least_error_share", kLeastErrorShare},
            {"least_error", kLeastError},
            {"instructions", or_null(models.instructions)},
            {"cycles", or_null(models.cycles)},
            {"paper",
             {{"scampi_instructions", terms_json(additive_model_2004(Card::kScampi))},
              {"intel_instructions", terms_json(additive_model_2004(Card::kIntel))}}}};
}

template <class Value> Json or_null(const std::optional<Value> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json measured_json(const std::optional<Measured> &measured)
{
    if (!measured)
        return nullptr;
    return {{"raw", measured->raw},
            {"net", measured->net},
            {"ci95", or_null(measured->ci95)},
            {"packets", measured->packets}};
}

Json rates_json(const std::optional<Rates> &rates)
{
    if (!rates)
        return nullptr;
    Json lines = Json::array();
    for (const LineShare &line : rates->lines)
        lines.push_back({{"gbit", line.gbit},
                         {"frame_bytes", line.frame_bytes},
                         {"line_packets_per_second", line.line_packets_per_second},
                         {"share", line.share},
                         {"gbit_per_second", line.gbit_per_second}});
    return {{"packets_per_second", rates->packets_per_second}, {"lines", std::move(lines)}};
}

Json arrivals_json(const Arrivals &arrivals)
{
    Json drops = Json::object();
    for (size_t i = 0; i < arrivals.drops.size(); ++i)
        drops[drop_name(i)] = arrivals.drops[i];
    return {
        {"seconds", arrivals.seconds},
        {"packets", arrivals.packets},
        {"bytes", arrivals.wire_bytes},
        {"batches", arrivals.batches},
        {"packets_per_batch", arrivals.batches > 0 ? Json(arrivals.mean_batch()) : Json(nullptr)},
        {"drops", std::move(drops)}};
}

// Null if there was no such pass.
Json live_json(const LiveArrivals &live)
{
    const auto pass = [](const Arrivals &arrivals) {
        return arrivals.seconds > 0 ? arrivals_json(arrivals) : Json(nullptr);
    };
    return {{"timed", pass(live.timed)}, {"counted", pass(live.counted)}};
}

Json scenario_json(const Scenario &scenario)
{
    return {{"table", scenario.table},
            {"scenario", scenario.name},
            {"id", scenario.id},
            {"packet_bytes", scenario.frame_bytes ? Json(scenario.frame_bytes) : Json(nullptr)}};
}

Json row_json(const Row &row, bool is_live)
{
    const Scenario &scenario = row.scenario;
    Json json = scenario_json(scenario);
    json["instructions"] = measured_json(row.instructions);
    json["cycles"] = measured_json(row.cycles);
    json["paper"] = {{"scampi_instructions", or_null(scenario.paper.scampi_instructions)},
                     {"scampi_cycles", or_null(scenario.paper.scampi_cycles)},
                     {"intel_instructions", or_null(scenario.paper.intel_instructions)},
                     {"intel_cycles", or_null(scenario.paper.intel_cycles)},
                     {"net_of_papi", false}};
    json["parts"] = Json::array();
    for (const RowPart &part : row.parts)
        json["parts"].push_back({{"name", part.name},
                                 {"instructions", or_null(part.instructions)},
                                 {"cycles", or_null(part.cycles)},
                                 {"in_cost", part.is_counted}});
    json["functions"] = Json::array();
    for (const Reach &reach : row.reach)
        json["functions"].push_back(
            {{"name", reach.function}, {"packets", reach.packets}, {"passed", reach.passed}});
    json["lost_copies"] = row.lost_copies;
    json["live"] = is_live ? live_json(row.arrivals) : Json(nullptr);
    json["rates"] = rates_json(row.rates);
    json["missing"] = row.missing.empty() ? Json(nullptr) : Json(row.missing);
    return json;
}

Json losses_json(const Totals &totals)
{
    Json json = {{"issued", totals.issued}, {"drained", totals.drained}, {"lost", Json::object()}};
    for (size_t i = 0; i < totals.lost.size(); ++i)
        json["lost"][nsdump::lost_name(i)] = totals.lost[i];
    json["equation_holds"] = totals.equation_holds;
    json["units"] = totals.units;
    json["units_left_out"] = totals.units_left_out;
    return json;
}

// Null for a live device, where not all packets are seen, so what the filter passes is unknown.
Json capture_json(const Survey &survey, bool is_live)
{
    return {{"path", survey.name},
            {"packets", survey.packets},
            {"bytes", survey.wire_bytes},
            {"mean_bytes", survey.packets > 0
                               ? Json(double(survey.wire_bytes) / double(survey.packets))
                               : Json(nullptr)},
            {"filter", survey.filter},
            {"filter_packets", is_live ? Json(nullptr) : Json(survey.matches)},
            {"damage", survey.is_damaged ? Json(survey.message) : Json(nullptr)},
            {"unread_bytes", survey.unread_bytes}};
}

Json program_json(const Results &results)
{
    const auto cost = slowdown(results.program_costs);
    return cost ? Json{{"cost", cost->value},
                       {"ci95", cost->ci95},
                       {"loads", results.program_costs.size()}}
                : Json(nullptr);
}

Json factors_json(const std::vector<LoadFactor> &factors)
{
    Json json = Json::array();
    for (const LoadFactor &one : factors)
        json.push_back({{"load", one.load},
                        {"flows", one.flows},
                        {"slice", one.slice},
                        {"value", one.factor.value},
                        {"ci95", one.factor.ci95}});
    return json;
}
} // namespace

std::string json_text(const Results &results)
{
    const nsdump::Clock &clock = results.clock;
    const ProbeCost &probe = results.probe;
    Json json;
    json["schema"] = "netslice-mapi-cost-1";
    json["capture"] = capture_json(results.survey, results.live.has_value());
    json["live"] = nullptr;
    if (results.live) {
        json["live"] = live_json(*results.live);
        json["live"]["interface"] = results.survey.name;
        json["live"]["seconds_per_pass"] = results.settings.seconds;
    }
    json["machine"] = {
        {"cpu", results.cpu}, {"kernel", results.kernel}, {"virtualised", results.virtualised}};
    json["clock"] = {{"source", clock.source},
                     {"hz", clock.hz},
                     {"mode", clock.mode},
                     {"step_ticks", clock.step_ticks}};
    json["sources"] = {
        {"cycles", cycle_source_text(clock)},
        {"instructions", results.instruction_source.empty()
                             ? Json(nullptr)
                             : Json(instruction_source_text(results.instruction_source))}};
    if (results.instruction_source.empty())
        json["sources"]["no_instructions_why"] = results.no_instructions_why;
    json["unit"] = results.settings.batch_packets == 1 ? "packet" : "batch";
    json["batch_packets"] = results.settings.batch_packets;
    json["repetitions"] = results.repetitions;
    json["interrupted"] = results.is_interrupted;
    json["losses"] = losses_json(results.totals);
    json["rows"] = Json::array();
    for (const Row &row : results.rows)
        json["rows"].push_back(row_json(row, results.live.has_value()));
    json["additive"] = additive_json(results.models);
    json["notes"] = results.notes;
    json["probe"] = {{"inner_ticks", probe.inner_ticks},
                     {"outer_ticks", probe.outer_ticks},
                     {"inner_end_ticks", probe.inner_end_ticks},
                     {"outer_end_ticks", probe.outer_end_ticks},
                     {"raw_share", probe.raw_share},
                     {"inside_factors", factors_json(results.inside_factors)},
                     {"program", program_json(results)},
                     {"sessions", results.totals.sessions},
                     {"timed_sessions", results.totals.timed_sessions},
                     {"sessions_with_drift", results.totals.drifts},
                     {"largest_drift_share", results.totals.largest_drift_share}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string scenarios_json(const std::vector<Scenario> &scenarios)
{
    Json json = {{"schema", "netslice-mapi-cost-list-1"}, {"scenarios", Json::array()}};
    for (const Scenario &scenario : scenarios)
        json["scenarios"].push_back(scenario_json(scenario));
    return json.dump(1) + "\n";
}
} // namespace mapi_cost
