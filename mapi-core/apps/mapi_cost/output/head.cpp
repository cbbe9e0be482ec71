// SPDX-License-Identifier: MIT
// head: results -> the lines above and below the tables, complete or in short.
#include "text.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "cells.hpp"
#include "common/command/counted.hpp"

namespace mapi_cost
{
namespace
{
std::string losses_text(const Totals &totals)
{
    const uint64_t lost = std::accumulate(totals.lost.begin(), totals.lost.end(), uint64_t{0});
    std::string text =
        fmt::format("{} issued, {} drained, {} lost", totals.issued, totals.drained, lost);
    for (size_t i = 0; i < totals.lost.size(); ++i)
        if (totals.lost[i] > 0)
            text += fmt::format(" ({} {})", totals.lost[i], nsdump::lost_name(i));
    text += totals.equation_holds ? "; issued = drained + lost holds"
                                  : "; issued = drained + lost does NOT hold";
    return text + fmt::format("; {} of {} units excluded", totals.units_left_out, totals.units);
}

std::string line_of(const char *what, const std::string &value)
{
    return fmt::format("{:<14}{}\n", what, value);
}

std::string size_text(const Survey &survey)
{
    return fmt::format(
        "{}, {}, {:.0f} bytes on average", command::counted(survey.packets, "packet"),
        command::counted(survey.wire_bytes, "byte"),
        survey.packets > 0 ? double(survey.wire_bytes) / double(survey.packets) : 0.0);
}

std::string capture_lines(const Survey &survey)
{
    return line_of("capture", survey.name + ": " + size_text(survey)) +
           (survey.is_damaged ? line_of("  damaged", damage_text(survey)) : "") +
           line_of("filter", fmt::format("\"{}\" passes {}", survey.filter,
                                         command::counted(survey.matches, "packet")));
}

std::string live_lines(const Results &results, const LiveArrivals &live)
{
    std::string text = line_of("live device", results.survey.name + ": " +
                                                  size_text(results.survey) + " while timed");
    text += line_of("", fmt::format("in {:.1f} s, each row until {} s have passed or {} packets "
                                    "have arrived; {:.1f} packets per batch on average",
                                    live.timed.seconds, results.settings.seconds,
                                    results.settings.packets, live.timed.mean_batch()));
    std::string counted_drops;
    if (!results.instruction_source.empty()) {
        text += line_of("", fmt::format("{} packets in {:.1f} s while instructions were counted",
                                        live.counted.packets, live.counted.seconds));
        counted_drops = "; while instructions were counted: " + drops_text(live.counted);
    }
    text += line_of("dropped", drops_text(live.timed) + counted_drops);
    return text + line_of("filter", fmt::format("\"{}\"; on a network interface, the kernel "
                                                "applies it to flows that begin with it",
                                                results.survey.filter));
}

// Only what is inside slices is ever off.
std::string slowdown_line(const Results &results)
{
    const auto cost = slowdown(results.program_costs);
    return !cost ? ""
                 : line_of("program",
                           fmt::format("takes {:.1f} ± {:.1f} % longer per batch with the probes "
                                       "inside slices than without them (random thinning)",
                                       cost->value * 100, cost->ci95 * 100));
}

std::string factors_line(const Results &results)
{
    std::vector<double> values;
    for (const LoadFactor &one : results.inside_factors)
        values.push_back(one.factor.value);
    if (values.empty())
        return line_of("", results.live || !results.settings.is_thinned
                               ? "the probes inside slices cost what the calibration says"
                               : "random thinning showed nothing: the probes inside slices cost "
                                 "what the calibration says");
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return line_of("", fmt::format("inside slices they cost {:.2f} to {:.2f} times as much as "
                                   "calibrated (random thinning of {})",
                                   *low, *high, command::counted(values.size(), "load")));
}
} // namespace

std::string head_text(const Results &results)
{
    const Survey &survey = results.survey;
    const ProbeCost &probe = results.probe;
    const nsdump::Clock &clock = results.clock;
    std::string text;
    const auto line = [&](const char *what, const std::string &value) {
        text += line_of(what, value);
    };
    text += results.live ? live_lines(results, *results.live) : capture_lines(survey);
    line("machine",
         fmt::format("{}, {}, virtualised: {}", results.cpu, results.kernel, results.virtualised));
    line("cycles", fmt::format("{}; clock step {:.0f} ticks, {} reads", cycle_source_text(clock),
                               clock.step_ticks, clock.mode));
    line("", results.live
                 ? "mean over blocks of consecutive batches, a fifth trimmed at each end"
                 : fmt::format("mean over batches with the same packets, a fifth trimmed at each "
                               "end, in {} passes in random order",
                               kTimedPasses));
    line("instructions",
         results.instruction_source.empty()
             ? "none: " + results.no_instructions_why
             : instruction_source_text(results.instruction_source) + "; in a separate pass");
    line("unit", results.settings.batch_packets == 1
                     ? "packet"
                     : fmt::format("batch of {}{} packets", results.live ? "up to " : "",
                                   results.settings.batch_packets));
    line("probe", fmt::format("inner {:.1f}, outer {:.1f} ticks at the start, {:.1f}, {:.1f} at "
                              "the end (means over sessions)",
                              probe.inner_ticks, probe.outer_ticks, probe.inner_end_ticks,
                              probe.outer_end_ticks));
    line("", fmt::format("drift from start to end at most {:.1f} %; more than {:.0f} % and its "
                         "interval in {} of {} sessions",
                         results.totals.largest_drift_share * 100, nsdump::kDriftShare * 100,
                         results.totals.drifts, results.totals.timed_sessions));
    line("", fmt::format("{:.1f} % of the raw cycles are the probes' own; net excludes them",
                         probe.raw_share * 100));
    text += factors_line(results) + slowdown_line(results);
    line("records", losses_text(results.totals));
    return text;
}

namespace
{
std::string source_text(const Results &results)
{
    const Survey &survey = results.survey;
    return results.live
               ? line_of("live device", survey.name + ": " + size_text(survey) + " while timed") +
                     line_of("dropped", drops_text(results.live->timed))
               : line_of("capture", survey.name + ": " + size_text(survey)) +
                     (survey.is_damaged ? line_of("  damaged", damage_text(survey)) : "");
}

std::string model_text(const char *quantity, const std::optional<AdditiveModel> &model)
{
    if (!model)
        return {};
    const auto missed =
        std::count_if(model->rows.begin(), model->rows.end(),
                      [](const ModelRow &row) { return row.verdict == Verdict::kMissed; });
    return missed == 0 ? ""
                       : wrapped(fmt::format(
                             "{}: the costs of functions do not simply add up: {} of {} scenarios "
                             "differ from an additive model by more than the error.",
                             quantity, missed, model->rows.size()));
}
} // namespace

std::string summary_head_text(const Results &results)
{
    const nsdump::Clock &clock = results.clock;
    const std::string counts =
        results.instruction_source.empty()
            ? "no instructions: " + results.no_instructions_why
            : "instructions " + instruction_source_text(results.instruction_source);
    return source_text(results) +
           line_of("machine",
                   fmt::format("{}, virtualised: {}", results.cpu, results.virtualised)) +
           line_of("sources",
                   fmt::format("{}, {} reads; {}", cycle_source_text(clock), clock.mode, counts)) +
           slowdown_line(results) + line_of("records", losses_text(results.totals));
}

std::string findings_text(const Results &results)
{
    std::string text = "\n";
    if (results.totals.drifts > 0)
        text += fmt::format("Calibration drift of more than {:.0f} % in {} of {} sessions; the "
                            "intervals are wider for it.\n",
                            nsdump::kDriftShare * 100, results.totals.drifts,
                            results.totals.timed_sessions);
    text += model_text("Instructions", results.models.instructions);
    text += model_text("TSC cycles", results.models.cycles);
    for (const std::string &note : results.notes)
        text += note + "\n";
    if (results.is_interrupted)
        text += "Interrupted: unfinished rows are missing.\n";
    return text + "SCAMPI, Intel: the cards of D3.4 on a machine of 2004, for comparison. How the "
                  "figures were obtained: --details.\n";
}

std::string notes_text(const Results &results)
{
    std::string text = "\n"
                       "A packet's cost is what D3.4 (2004) counted: the engine's work on it and "
                       "all functions. Reading it from the device is\n"
                       "not included (driver_read among the parts). SCAMPI and Intel: the cards of "
                       "D3.4 on a machine of 2004; core cycles,\n"
                       "rounded to 100, averages of 5 runs. One set of PAPI reads (265 "
                       "instructions, 700 cycles) is subtracted from Tables 2\n"
                       "and 3; Table 4 has differences. Functions after BPF_FILTER run on packets "
                       "that pass it; STR_SEARCH on its own looks for\n"
                       "a string that is in no packet. A frame on the wire takes 20 bytes more "
                       "than its size, for preamble and gap.\n";
    for (const std::string &note : results.notes)
        text += note + "\n";
    if (results.is_interrupted)
        text += "Interrupted: unfinished rows are missing.\n";
    return text;
}
} // namespace mapi_cost
