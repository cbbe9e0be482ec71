// SPDX-License-Identifier: MIT
// results: text about where the figures come from; a row without figures -> the cause and the
// remedy.
#include "results.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/command/counted.hpp"

namespace mapi_cost
{
std::string damage_text(const Survey &survey)
{
    if (survey.unread_bytes == 0)
        return survey.message;
    return fmt::format("{}; {} not read; the costs cover the {} before", survey.message,
                       command::counted(survey.unread_bytes, "byte"),
                       command::counted(survey.packets, "packet"));
}

std::string instruction_source_text(const std::string &source)
{
    if (source == "step")
        return "step: exact, single-stepped";
    if (source == "rdpmc")
        return "rdpmc: PMU, user space only";
    if (source == "perf-read")
        return "perf-read: PMU through read(), user space only";
    if (source == "papi")
        return "papi: PAPI_TOT_INS, user space only";
    return source;
}

std::string cycle_source_text(const nsdump::Clock &clock)
{
    return fmt::format("TSC cycles, {:.3f} GHz, not core cycles", clock.hz / 1e9);
}

namespace
{
std::string unmatched(const Survey &survey)
{
    return fmt::format("the filter \"{}\" passes no packet of {}", survey.filter, survey.name);
}

// If a flow begins with a filter, the kernel of a network interface applies it, so rejected packets
// are never seen here.
std::string too_few_came(const Scenario &scenario, const Results &results)
{
    const bool is_filtered = scenario.begins_with_filter();
    return fmt::format("{}: too few packets{} arrived within {} s and --count {}; increase "
                       "--duration or --count{}",
                       results.survey.name, is_filtered ? " that pass the filter" : "",
                       results.settings.seconds, results.settings.packets,
                       !is_filtered           ? ""
                       : scenario.own.empty() ? ", or use another --filter"
                                              : ", or use another filter");
}
} // namespace

std::string why_missing(const Scenario &scenario, const Results &results,
                        const NothingMeasured &error)
{
    const Survey &survey = results.survey;
    const uint64_t packets = results.settings.packets;
    const bool is_filtered =
        std::count(scenario.functions.begin(), scenario.functions.end(), Function::kFilter) > 0;
    if (scenario.quantity == Quantity::kNextPacket && is_filtered && survey.matches == 0)
        return unmatched(survey) + ", so there is nothing to read after it; use a --filter that "
                                   "matches, or another capture";
    if (scenario.is_call() && packets <= kWarmCalls)
        return fmt::format(
            "--count {} is too few: the first {} calls are not counted; use a larger number",
            packets, kWarmCalls);
    if (error.units_left_out() > 0)
        return fmt::format("all {} measured units were cut by interrupts, migrations or losses; "
                           "run it again on a quieter machine, "
                           "with a larger --count or --step-units",
                           error.units_left_out());
    if (results.live)
        return too_few_came(scenario, results);
    return fmt::format(
        "--count {} of {} gave no complete unit; increase --count or use a larger capture", packets,
        survey.name);
}

std::string why_no_interval(const Scenario &scenario, const Results &results)
{
    if (results.live)
        return too_few_came(scenario, results);
    return fmt::format("--count {} of {} gave only one block, with no other to compare it with; "
                       "increase --count or use a larger capture",
                       results.settings.packets, results.survey.name);
}

std::string filter_note(const Survey &survey)
{
    if (survey.matches > 0)
        return {};
    return unmatched(survey) + ": rows with functions after BPF_FILTER use packets that it "
                               "rejects; use a --filter that matches";
}
} // namespace mapi_cost
