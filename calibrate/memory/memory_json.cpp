// SPDX-License-Identifier: MIT
// memory_report: the same as JSON.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "memory/chase.hpp"
#include "memory/memory_report.hpp"

namespace calibrate
{
namespace
{
using Json = nlohmann::ordered_json;

template <typename Value> Json or_null(const std::optional<Value> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json median_json(const std::vector<std::vector<double>> &passes, double hz)
{
    if (passes.empty())
        return nullptr;
    const Median median = median_of_passes(passes);
    return {{"ticks", median.value},           {"ticks_low", median.low},
            {"ticks_high", median.high},       {"ns", median.value / hz * 1e9},
            {"ns_low", median.low / hz * 1e9}, {"ns_high", median.high / hz * 1e9},
            {"batches", median.count}};
}

Json latency_json(const LatencyPoint *point, double hz)
{
    if (!point)
        return nullptr;
    return {{"alone", median_json(point->alone, hz)},
            {"overlapped", median_json(point->overlapped, hz)}};
}

Json series_json(const LatencySeries &series, const LatencyRun &run)
{
    Json points = Json::array();
    for (const LatencyPoint &point : series.points) {
        Json one = {{"bytes", point.bytes}};
        one.update(latency_json(&point, run.facts.hz));
        points.push_back(one);
    }
    return points;
}

Json pages_json(const LatencyRun &run)
{
    Json points = Json::array();
    for (const LatencyPoint &point : run.by_page.points) {
        const auto cost = page_cost_ticks(run, point);
        points.push_back({{"pages", point.bytes / kLineBytes},
                          {"alone", median_json(point.alone, run.facts.hz)},
                          {"page_ns", cost ? Json(*cost / run.facts.hz * 1e9) : Json(nullptr)}});
    }
    return points;
}

Json caches_json(const std::vector<Cache> &caches)
{
    Json all = Json::array();
    for (const Cache &cache : caches)
        all.push_back({{"level", cache.level},
                       {"bytes", cache.bytes},
                       {"line_bytes", or_null(cache.line_bytes)},
                       {"cpus", or_null(cache.shared_by)},
                       {"source", cache.source}});
    return all;
}

Json levels_json(const std::vector<Level> &levels, double hz)
{
    Json all = Json::array();
    for (const Level &level : levels)
        all.push_back(
            {{"name", level.name},
             {"bytes", level.cache ? Json(level.cache->bytes) : Json(nullptr)},
             {"measured_bytes", level.measured_bytes},
             {"step_bytes", or_null(level.step_bytes)},
             {"step_agrees", level.step_bytes ? Json(level.step_agrees()) : Json(nullptr)},
             {"small", latency_json(level.small, hz)},
             {"huge", latency_json(level.huge, hz)}});
    return all;
}
} // namespace

std::string memory_json(const MemoryReport &report)
{
    const Environment &env = report.environment;
    const LatencyRun &run = report.run;
    Json json = {
        {"schema", "netslice-memory-1"},
        {"context",
         {{"version", NETSLICE_VERSION},
          {"cpu", env.machine.cpu_model},
          {"arch", env.machine.arch},
          {"kernel", env.kernel},
          {"virtualised", env.machine.hypervisor},
          {"date", env.date},
          {"cpus", env.cpus},
          {"cpu_number", env.cpu},
          {"load_1min", env.load_1min}}},
        {"clock", {{"source", env.machine.clock}, {"hz", run.facts.hz}}},
        {"method",
         {{"passes", report.plan.passes},
          {"batches_per_pass", report.plan.batches_per_pass},
          {"most_loads_per_batch", report.plan.most_loads_per_batch},
          {"chains_overlapped", kManyChains},
          {"interval", "95 % of the median by order statistics, and the medians of the passes"}}},
        {"run",
         {{"seconds", run.facts.seconds},
          {"steal_seconds", or_null(run.facts.steal_seconds)},
          {"preemptions", run.facts.preemptions},
          {"core_hz", or_null(run.facts.core_hz)}}},
        {"caches", caches_json(report.caches)},
        {"page_bytes", run.page_bytes},
        {"huge_share", run.huge_share},
        {"why_not_huge", run.huge.points.empty() ? Json(run.why_not_huge) : Json(nullptr)},
        {"levels", levels_json(report.levels, run.facts.hz)},
        {"small", series_json(run.small, run)},
        {"huge", series_json(run.huge, run)},
        {"by_page", pages_json(run)},
        {"warnings", Json::array()}};
    for (const Warning &warning : report.warnings)
        json["warnings"].push_back(warning.text);
    json["trusted"] = std::none_of(report.warnings.begin(), report.warnings.end(),
                                   [](const Warning &warning) { return warning.spoils_result; });
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
} // namespace calibrate
