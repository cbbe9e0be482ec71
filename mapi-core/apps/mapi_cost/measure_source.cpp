// SPDX-License-Identifier: MIT
// measure_source: the capture or device of the command line, and scenarios -> passes -> rows.
#include "measure_source.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "common/command/output.hpp"
#include "common/command/status_line.hpp"
#include "common/command/tell.hpp"
#include "mapi_cost/run/run.hpp"
#include "mapi_cost/run/session.hpp"
#include "mapi_cost/source/mapi_handle.hpp"
#include "mapi_cost/source/packets.hpp"
#include "mapi_cost/source/scenario.hpp"
#include "measure.hpp"
#include "results.hpp"

namespace mapi_cost
{
namespace
{
std::vector<Pass> time_loads(Workloads &workloads, const Results &results, const TempFolder &folder,
                             const std::vector<LoadRequest> &requests)
{
    std::vector<Load> loads;
    for (const LoadRequest &request : requests)
        loads.push_back(workloads.load(request.scenario, request.flows));
    std::vector<TimedRun> runs;
    for (size_t i = 0; i < loads.size(); ++i)
        runs.push_back({&loads[i], requests[i].inside});
    return run_timed(runs, results.settings, folder);
}

// All arguments must outlive the result.  Stores in the results how often the capture is read.
Runner capture_runner(Workloads &workloads, Results &results, const TempFolder &folder)
{
    results.repetitions =
        (results.settings.packets + results.survey.packets - 1) / results.survey.packets;
    Runner runner;
    runner.run = [&](const Scenario &scenario, unsigned flows, Field field) {
        const Load load = workloads.load(scenario, flows, !scenario.is_call());
        return scenario.is_call()
                   ? run_calls(load, scenario.quantity, field, results.settings, folder)
                   : run_counted(load, results.settings, folder);
    };
    runner.time = [&](const std::vector<LoadRequest> &requests) {
        return time_loads(workloads, results, folder, requests);
    };
    if (results.settings.is_thinned)
        runner.thin = [&](const LoadRequest &request) {
            return run_thinned(workloads.load(request.scenario, request.flows), results.settings,
                               folder);
        };
    return runner;
}

bool can_be_live(const Scenario &scenario)
{
    return scenario.quantity == Quantity::kPacket && scenario.frame_bytes == 0;
}

// Spreads about as many packets as `step_units` full batches contain evenly over the pass, based on
// the time pass.  Packets arrive in bursts whose batches repeat; a distance without small divisors
// meets every position in such a pattern.
uint64_t step_every(const Arrivals &timed, const RunSettings &settings)
{
    const double units =
        double(settings.step_units) * MAPI_BATCH_MAX / std::max(1.0, timed.mean_batch());
    auto every = std::max<uint64_t>(1, uint64_t(double(timed.batches) / units));
    while (std::gcd(every, 2 * 3 * 5 * 7) != 1)
        ++every;
    return every;
}

// With a filter, which the kernel applies, having no packets is possible.  Without one, the other
// rows would have none either.
void expect_packets(const Results &results, const Scenario &scenario, const Arrivals &arrivals)
{
    if (results.live->timed.packets + arrivals.packets == 0 && !scenario.begins_with_filter())
        throw MapiError(fmt::format("{}: no packet arrived in {} s (check that it is the right "
                                    "interface and up (ip -s link shows the received "
                                    "packets), send packets to it, or wait longer with --duration)",
                                    results.survey.name, results.settings.seconds));
}
} // namespace

std::string keep_live(std::vector<Scenario> &scenarios, const std::vector<std::string> &asked_for)
{
    const auto gone = std::stable_partition(scenarios.begin(), scenarios.end(), can_be_live);
    std::string names;
    for (auto scenario = gone; scenario != scenarios.end(); ++scenario) {
        names += (names.empty() ? "" : ", ") + scenario->id;
        if (gone == scenarios.begin() ||
            std::count(asked_for.begin(), asked_for.end(), scenario->id) > 0)
            throw command::UsageError(
                fmt::format("--scenario: \"{}\" cannot be measured on a live device (add --record "
                            "to record its packets first and measure on these)",
                            scenario->id));
    }
    scenarios.erase(gone, scenarios.end());
    return names.empty()
               ? names
               : "Not measured on a live device (--record measures them on recorded packets): " +
                     names + ".";
}

Runner live_runner(const Results &results, const TempFolder &folder)
{
    set_batch(results.survey.name, results.settings.batch_packets);
    const auto timed = std::make_shared<std::map<std::string, Arrivals>>(); // by scenario
    Runner runner;
    runner.run = [&results, &folder, timed](const Scenario &scenario, unsigned, Field field) {
        const RunSettings &settings = results.settings;
        const Load load{{}, {calls_of(scenario, 0, {results.survey.filter, ""})}};
        const bool is_sparse = field == Field::kInstructions && is_stepped(settings.source, folder);
        const uint64_t every = is_sparse ? step_every((*timed)[scenario.id], settings) : 1;
        Pass pass = run_live(load, results.survey.name, field, every, settings, folder);
        expect_packets(results, scenario, *pass.arrivals);
        if (field == Field::kTicks)
            (*timed)[scenario.id] = *pass.arrivals;
        return pass;
    };
    return runner;
}

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
    size_t done = 0;
    const auto keep_timed = [&](const char *why) {
        for (; done < scenarios.size(); ++done)
            measurement.measure_timed_only(scenarios[done], why);
    };
    try {
        measurement.time(scenarios, [&](const std::string &what) {
            progress.show(what);
            stop_if_interrupted();
        });
        for (; done < scenarios.size(); ++done) {
            progress.show(
                fmt::format("{}/{} {}", done + 1, scenarios.size(), scenarios[done].name));
            stop_if_interrupted();
            measurement.measure(scenarios[done]);
        }
    } catch (const command::Interrupted &) {
        keep_timed("interrupted");
        throw;
    } catch (const std::exception &) {
        keep_timed("the run ended early");
        throw;
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
                 Measurement(results, live_runner(results, folder), wants_instructions));
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
    std::vector<Scenario> all = scenarios;
    const std::vector<Scenario> companions = companions_of(scenarios);
    all.insert(all.end(), companions.begin(), companions.end());
    measure_each(
        all, options.is_quiet,
        Measurement(results, capture_runner(workloads, results, folder), wants_instructions));
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
