// SPDX-License-Identifier: MIT
// measure_source: the capture or device of the command line, and scenarios -> rows.
#include "measure_source.hpp"

#include <fmt/format.h>

#include "common/command/status_line.hpp"
#include "common/command/tell.hpp"
#include "mapi_cost/measure.hpp"
#include "mapi_cost/output/missing.hpp"
#include "mapi_cost/run/capture_passes.hpp"
#include "mapi_cost/run/interrupt.hpp"
#include "mapi_cost/run/live_passes.hpp"
#include "mapi_cost/run/session.hpp"
#include "recording.hpp"

namespace mapi_cost
{
namespace
{
// A counter source requested by name is required; with the default, a missing one is only reported.
bool has_instructions(const Options &options, const TempFolder &folder, Results &results)
{
    if (!options.wants_instructions) {
        results.no_instructions_why = "disabled (--no-instructions)";
        return false;
    }
    try {
        is_stepped(options.run.source, folder);
        return true;
    } catch (const SessionError &error) {
        if (options.run.source != NSP_SOURCE_AUTO)
            throw;
        results.no_instructions_why = error.what();
        return false;
    }
}

void measure_each(const std::vector<Scenario> &scenarios, bool is_quiet, Measurement measurement)
{
    command::StatusLine progress(!is_quiet);
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        progress.show(fmt::format("{}/{} {}", i + 1, scenarios.size(), scenarios[i].name));
        stop_if_interrupted();
        measurement.measure(scenarios[i]);
    }
}

void measure_live(const Options &options, std::vector<Scenario> scenarios, const TempFolder &folder,
                  Results &results)
{
    if (const std::string note = keep_live(scenarios, options.scenarios); !note.empty())
        results.notes.push_back(note);
    results.live.emplace();
    results.survey.name = options.capture;
    results.survey.filter = options.filter.empty() ? kCommonFilter : options.filter;
    const bool wants_instructions = has_instructions(options, folder, results);
    measure_each(scenarios, options.is_quiet,
                 Measurement(results, live_passes(results, folder), wants_instructions));
}

// A source that cannot be read repeatedly at a constant driver cost is recorded first.
Survey survey_source(const Options &options, const TempFolder &folder, Results &results)
{
    if (!options.is_device && !options.is_erf)
        return survey_capture(options.capture, options.capture, options.filter);
    const std::string path = folder.file("recorded.pcap");
    record({options.capture, options.is_device}, options.run.packets, options.run.seconds, path);
    Survey survey = survey_capture(path, options.capture, options.filter);
    results.notes.push_back(fmt::format("Measured on a pcap file with the first {} packets of {}: "
                                        "driver costs are those of a pcap file.",
                                        survey.packets, options.capture));
    return survey;
}

void measure_capture(const Options &options, const std::vector<Scenario> &scenarios,
                     const TempFolder &folder, Results &results)
{
    results.survey = survey_source(options, folder, results);
    if (results.survey.is_damaged)
        command::tell("mapi-cost: {}\n", damage_text(results.survey));
    if (const std::string note = filter_note(results.survey); !note.empty())
        results.notes.push_back(note + ".");
    const bool wants_instructions = has_instructions(options, folder, results);
    Workloads workloads(results.survey, options.text, options.run.packets, folder);
    measure_each(
        scenarios, options.is_quiet,
        Measurement(results, capture_passes(workloads, results, folder), wants_instructions));
}
} // namespace

void measure_source(const Options &options, const std::vector<Scenario> &scenarios,
                    const TempFolder &folder, Results &results)
{
    if (options.is_live())
        measure_live(options, scenarios, folder, results);
    else
        measure_capture(options, scenarios, folder, results);
}
} // namespace mapi_cost
