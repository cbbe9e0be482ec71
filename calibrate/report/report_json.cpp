// SPDX-License-Identifier: MIT
// report: run + environment -> calibration.json; the part that nsdump reads is written by nsdump's
// own code.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "analyse/correct/calibration.hpp"
#include "report.hpp"
#include "report_paper_json.hpp"

namespace calibrate
{
namespace
{
std::optional<double> instructions_of(const ProbeRow &row, Series CounterCost::*which)
{
    for (const CounterCost &cost : row.counter_costs)
        if (cost.name == "instructions" && !(cost.*which).passes().empty())
            return (cost.*which).total().mean;
    return std::nullopt;
}

nsdump::ProbeCost probe_cost(const ProbeRow &row)
{
    const Estimate inner = row.inner.total(), outer = row.outer.total();
    nsdump::ProbeCost cost;
    cost.macro = row.macro;
    cost.mode = row.setting.mode;
    cost.ring = row.setting.ring;
    cost.counters = row.setting.counters;
    cost.inner_ticks = inner.mean;
    cost.inner_ci95 = inner.ci95;
    cost.outer_ticks = outer.mean;
    cost.outer_ci95 = outer.ci95;
    if (const Estimate alone = row.outer_alone.total(); alone.batches > 0)
        cost.outer_hidden_ticks = alone.mean - outer.mean;
    if (const Estimate alone = row.inner_alone.total(); alone.batches > 0)
        cost.inner_hidden_ticks = alone.mean - inner.mean;
    if (const Estimate most = row.inner_overtaking.total(); most.batches > 0) {
        cost.inner_overtaking_ticks = most.mean - inner.mean;
        cost.outer_overtaking_ticks = row.outer_overtaking.total().mean - outer.mean;
    }
    cost.inner_instructions = instructions_of(row, &CounterCost::inner);
    cost.outer_instructions = instructions_of(row, &CounterCost::outer);
    cost.batches = outer.batches;
    cost.trimmed = outer.trimmed;
    return cost;
}

nsdump::CalibrationFile contract(const Report &report)
{
    const Environment &env = report.environment;
    const RunFacts &facts = report.run.facts;
    nsdump::CalibrationFile file;
    file.context = {NETSLICE_VERSION,
                    env.machine.cpu_model,
                    env.machine.arch,
                    env.kernel,
                    env.governor.value_or("unknown"),
                    env.machine.hypervisor,
                    env.compiler,
                    env.date,
                    env.cpus};
    file.clock = {env.machine.clock, facts.hz, facts.step_ticks,
                  env.machine.clock_is_invariant != 0};
    for (const ClockReadRow &row : report.run.results.clock_reads) {
        const Estimate cost = row.ticks.total();
        file.clock_reads.push_back(
            {row.name, cost.mean, cost.mean / facts.hz * 1e9, cost.ci95 / facts.hz * 1e9});
    }
    for (const ProbeRow &row : report.run.results.probes)
        file.probes.push_back(probe_cost(row));
    for (const Warning &warning : report.warnings)
        file.warnings.push_back(warning.text);
    return file;
}

template <typename Value> Json or_null(const std::optional<Value> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json estimate_json(const Estimate &cost, double hz, double bare)
{
    return {{"ticks", cost.mean},
            {"ci95_ticks", cost.ci95},
            {"ns", cost.mean / hz * 1e9},
            {"ratio_to_bare_read", bare > 0 ? Json(cost.mean / bare) : Json(nullptr)},
            {"pass_spread", cost.spread},
            {"batches", cost.batches},
            {"trimmed", cost.trimmed}};
}

void add_context(const Report &report, Json &json)
{
    const Environment &env = report.environment;
    const RunFacts &facts = report.run.facts;
    Json &context = json["context"];
    context["cpu_number"] = env.cpu;
    context["smt"] = or_null(env.is_smt_active);
    context["turbo"] = or_null(env.is_turbo_on);
    context["isolated"] = env.is_isolated;
    context["core_threads"] = or_null(env.siblings);
    context["kernel_clock_source"] = or_null(env.clock_source);
    context["load_1min"] = env.load_1min;
    if (!env.governor)
        context["governor"] = nullptr;
    json["method"] = {{"passes", report.plan.passes},
                      {"batches_per_pass", report.plan.batches_per_pass},
                      {"trim", "a fifth of the batches and of the passes at either end"},
                      {"interval", "95 %, half width"}};
    json["run"] = {{"seconds", facts.seconds},
                   {"steal_seconds", or_null(facts.steal_seconds)},
                   {"preemptions", facts.preemptions},
                   {"shared_core", facts.shared_share},
                   {"core_hz", or_null(facts.core_hz)},
                   {"frequency_range", facts.frequency_range},
                   {"gap_share", facts.gap_share},
                   {"repeated_passes", facts.repeated_passes},
                   {"disturbed_passes", facts.disturbed_passes}};
}

void add_counter_costs(const Report &report, Json &json)
{
    const auto &rows = report.run.results.probes;
    for (size_t i = 0; i < rows.size(); ++i)
        for (const CounterCost &cost : rows[i].counter_costs) {
            const Estimate inner = cost.inner.total(), outer = cost.outer.total();
            json["probes"][i]["counter_costs"].push_back({{"counter", cost.name},
                                                          {"inner", inner.mean},
                                                          {"inner_ci95", inner.ci95},
                                                          {"outer", outer.mean},
                                                          {"outer_ci95", outer.ci95}});
        }
}

void add_rings(const Report &report, Json &json)
{
    const Results &results = report.run.results;
    const double bare =
        results.clock_reads.empty() ? 0 : results.clock_reads.front().ticks.total().mean;
    json["rings"] = Json::array();
    for (const RingRow &row : results.rings) {
        const Estimate cost = row.ticks.total();
        if (cost.batches == 0)
            continue;
        Json one = {{"name", row.name},
                    {"macro", "EXIT"},
                    {"mode", row.setting.mode},
                    {"ring", row.setting.ring}};
        one.update(estimate_json(cost, report.run.facts.hz, bare));
        if (row.name != "off")
            one.update({{"issued", row.issued}, {"drained", row.drained}, {"lost", row.lost}});
        json["rings"].push_back(one);
    }
}
} // namespace

std::string as_json(const Report &report)
{
    Json json = Json::parse(nsdump::to_json(contract(report)));
    add_context(report, json);
    add_counter_costs(report, json);
    add_rings(report, json);
    if (report.plan.does_paper)
        json["paper"] = paper_json(report);
    json["unavailable"] = Json::array();
    for (const Unavailable &lack : report.run.results.unavailable)
        json["unavailable"].push_back({{"what", lack.what}, {"reason", lack.reason}});
    json["trusted"] = std::none_of(report.warnings.begin(), report.warnings.end(),
                                   [](const Warning &warning) { return warning.spoils_result; });
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
} // namespace calibrate
