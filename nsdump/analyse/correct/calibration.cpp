// SPDX-License-Identifier: MIT
// analyse: calibration.json (schema netslice-calibration-1) <-> struct.
#include "analyse/correct/calibration.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/file_error/file_error.h"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
using Json = nlohmann::ordered_json;

std::string text_or_empty(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::optional<double> number_or_none(const Json &object, const char *key)
{
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number())
        return std::nullopt;
    return found->get<double>();
}

double number_or_zero(const Json &object, const char *key)
{
    return number_or_none(object, key).value_or(0);
}

uint32_t count_or_zero(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_number_unsigned() ? found->get<uint32_t>() : 0;
}

ProbeCost probe_from(const Json &object)
{
    ProbeCost probe;
    probe.macro = text_or_empty(object, "macro");
    probe.mode = text_or_empty(object, "mode");
    probe.ring = text_or_empty(object, "ring");
    probe.counters = text_or_empty(object, "counters");
    probe.inner_ticks = object.at("inner_ticks").get<double>();
    probe.inner_ci95 = number_or_zero(object, "inner_ci95");
    probe.outer_ticks = object.at("outer_ticks").get<double>();
    probe.outer_ci95 = number_or_zero(object, "outer_ci95");
    probe.inner_instructions = number_or_none(object, "inner_instructions");
    probe.outer_instructions = number_or_none(object, "outer_instructions");
    probe.inner_hidden_ticks = number_or_none(object, "inner_hidden_ticks");
    probe.outer_hidden_ticks = number_or_none(object, "outer_hidden_ticks");
    probe.inner_overtaking_ticks = number_or_none(object, "inner_overtaking_ticks");
    probe.outer_overtaking_ticks = number_or_none(object, "outer_overtaking_ticks");
    probe.batches = count_or_zero(object, "batches");
    probe.trimmed = count_or_zero(object, "trimmed");
    for (const Json &cost : object.value("counter_costs", Json::array()))
        probe.counter_costs.push_back(
            {cost.at("counter").get<std::string>(), cost.at("inner").get<double>(),
             number_or_zero(cost, "inner_ci95"), cost.at("outer").get<double>(),
             number_or_zero(cost, "outer_ci95")});
    return probe;
}

CalibrationFile from_json(const Json &json)
{
    CalibrationFile out;
    const Json context = json.value("context", Json::object());
    out.context = {text_or_empty(context, "version"),  text_or_empty(context, "cpu"),
                   text_or_empty(context, "arch"),     text_or_empty(context, "kernel"),
                   text_or_empty(context, "governor"), text_or_empty(context, "virtualised"),
                   text_or_empty(context, "compiler"), text_or_empty(context, "date"),
                   count_or_zero(context, "cpus")};
    const Json &clock = json.at("clock");
    out.clock = {text_or_empty(clock, "source"), number_or_zero(clock, "hz"),
                 number_or_zero(clock, "step_ticks"), clock.value("invariant", false)};
    for (const Json &read : json.value("clock_reads", Json::array()))
        out.clock_reads.push_back({text_or_empty(read, "name"), number_or_zero(read, "ticks"),
                                   number_or_zero(read, "ns"), number_or_zero(read, "ci95_ns")});
    for (const Json &probe : json.at("probes"))
        out.probes.push_back(probe_from(probe));
    for (const Json &warning : json.value("warnings", Json::array()))
        out.warnings.push_back(warning.get<std::string>());
    out.is_trusted = json.value("trusted", true);
    return out;
}

constexpr double kLargestCost = 1e12; // in ticks: minutes

// Rejects what no machine can have: a probe with a negative cost, a clock that does not run.
void check_possible(const CalibrationFile &file, const std::string &name)
{
    const auto refuse = [&](const std::string &what) {
        throw TraceError(
            fmt::format("{}: not a calibration: {} (create one with nscalibrate)", name, what));
    };
    if (!(file.clock.hz > 0))
        refuse(fmt::format("clock.hz is {}", file.clock.hz));
    const auto is_half_width = [](double value) { return value >= 0 && value < kLargestCost; };
    for (const ProbeCost &probe : file.probes) {
        const double alone = probe.outer_ticks + probe.outer_hidden_ticks.value_or(0);
        if (!is_possible_cost(probe.outer_ticks, probe.outer_ci95,
                              probe.outer_hidden_ticks.value_or(0)) ||
            !(probe.inner_ticks >= -std::fabs(alone)) || !(std::fabs(alone) < kLargestCost))
            refuse(fmt::format("{} costs {:.6g} ticks, {:.6g} of them inside", probe.macro,
                               probe.outer_ticks, probe.inner_ticks));
        if (!is_half_width(probe.outer_ci95) || !is_half_width(probe.inner_ci95))
            refuse(fmt::format("{} has intervals of {:.6g} and {:.6g} ticks", probe.macro,
                               probe.outer_ci95, probe.inner_ci95));
        for (const auto &overtaking : {probe.inner_overtaking_ticks, probe.outer_overtaking_ticks})
            if (!(std::fabs(overtaking.value_or(0)) < kLargestCost))
                refuse(fmt::format("{} overtakes {:.6g} ticks of work", probe.macro, *overtaking));
        if (!(std::fabs(probe.inner_hidden_ticks.value_or(0)) < kLargestCost))
            refuse(fmt::format("{} hides {:.6g} ticks inside", probe.macro,
                               *probe.inner_hidden_ticks));
        for (const CounterCost &cost : probe.counter_costs)
            if (!(std::fabs(cost.outer) < kLargestCost) ||
                !(std::fabs(cost.inner) < kLargestCost) || !is_half_width(cost.outer_ci95) ||
                !is_half_width(cost.inner_ci95))
                refuse(fmt::format("{} costs {:.6g} {}", probe.macro, cost.outer, cost.counter));
    }
}

Json optional_number(const std::optional<double> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json probe_to(const ProbeCost &probe)
{
    return {{"macro", probe.macro},
            {"mode", probe.mode},
            {"ring", probe.ring},
            {"counters", probe.counters},
            {"inner_ticks", probe.inner_ticks},
            {"inner_ci95", probe.inner_ci95},
            {"outer_ticks", probe.outer_ticks},
            {"outer_ci95", probe.outer_ci95},
            {"inner_hidden_ticks", optional_number(probe.inner_hidden_ticks)},
            {"outer_hidden_ticks", optional_number(probe.outer_hidden_ticks)},
            {"inner_overtaking_ticks", optional_number(probe.inner_overtaking_ticks)},
            {"outer_overtaking_ticks", optional_number(probe.outer_overtaking_ticks)},
            {"inner_instructions", optional_number(probe.inner_instructions)},
            {"outer_instructions", optional_number(probe.outer_instructions)},
            {"batches", probe.batches},
            {"trimmed", probe.trimmed}};
}
} // namespace

bool is_possible_cost(double outer, double half_width, double hidden)
{
    return outer + half_width >= -std::fabs(outer + hidden) / 4;
}

CalibrationFile parse_calibration(const std::string &text, const std::string &name)
{
    try {
        const Json json = Json::parse(text);
        const std::string schema = json.value("schema", "");
        if (schema != kCalibrationSchema)
            throw TraceError(fmt::format(
                "{}: schema is \"{}\", not \"{}\" (create a calibration with nscalibrate)", name,
                schema, kCalibrationSchema));
        CalibrationFile file = from_json(json);
        check_possible(file, name);
        return file;
    } catch (const Json::parse_error &error) {
        throw TraceError(fmt::format(
            "{}: not a calibration: invalid JSON at byte {} (create one with nscalibrate)", name,
            error.byte));
    } catch (const Json::exception &error) {
        const std::string_view words = error.what(); // "[json.exception...] key 'x' not found"
        throw TraceError(fmt::format("{}: not a calibration: a value is missing or has the wrong "
                                     "type: {} (create one with nscalibrate)",
                                     name,
                                     words.substr(std::min(words.find("] ") + 2, words.size()))));
    }
}

CalibrationFile read_calibration(const std::string &path)
{
    std::ifstream file(path);
    if (!file)
        throw TraceError(fmt::format("{}: cannot open: {}", path, nslice_read_error(errno)));
    if (std::filesystem::is_directory(path))
        throw TraceError(fmt::format("{}: cannot read: {}", path, nslice_read_error(EISDIR)));
    std::ostringstream text;
    text << file.rdbuf();
    return parse_calibration(text.str(), path);
}

std::string to_json(const CalibrationFile &calibration)
{
    const CalibrationContext &context = calibration.context;
    Json json = {{"schema", kCalibrationSchema},
                 {"context",
                  {{"version", context.version},
                   {"cpu", context.cpu},
                   {"arch", context.arch},
                   {"kernel", context.kernel},
                   {"governor", context.governor},
                   {"virtualised", context.virtualised},
                   {"compiler", context.compiler},
                   {"date", context.date},
                   {"cpus", context.cpus}}},
                 {"clock",
                  {{"source", calibration.clock.source},
                   {"hz", calibration.clock.hz},
                   {"step_ticks", calibration.clock.step_ticks},
                   {"invariant", calibration.clock.is_invariant}}},
                 {"clock_reads", Json::array()},
                 {"probes", Json::array()},
                 {"warnings", calibration.warnings}};
    for (const ClockReadCost &read : calibration.clock_reads)
        json["clock_reads"].push_back({{"name", read.name},
                                       {"ticks", read.ticks},
                                       {"ns", read.ns},
                                       {"ci95_ns", read.ci95_ns}});
    for (const ProbeCost &probe : calibration.probes)
        json["probes"].push_back(probe_to(probe));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
} // namespace nsdump
