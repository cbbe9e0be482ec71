// SPDX-License-Identifier: MIT
// table: results -> text of at most 120 columns; the lines above and below the tables; packets
// received and lost by each row of a live device.
#include "text.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

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
    line("", results.live ? "mean over blocks of consecutive batches, a fifth trimmed at each end"
                          : "mean over batches with the same packets, a fifth trimmed at each end "
                            "to exclude interrupts");
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
    line("records", losses_text(results.totals));
    return text;
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

namespace
{
struct Column {
    const char *heading;
    bool is_of_count; // shown for the pass that counts instructions
    std::string (*cell)(const Row &, const Arrivals &);
};

std::string driver_cell(const Row &row, const Arrivals &)
{
    const std::optional<double> cycles = row.driver_read_cycles();
    return cycles ? number(*cycles) : "-";
}

std::string packets_cell(const Row &, const Arrivals &arrivals)
{
    return std::to_string(arrivals.packets);
}

std::string rate_cell(const Row &, const Arrivals &arrivals)
{
    return arrivals.seconds > 0 ? fmt::format("{:.0f}", double(arrivals.packets) / arrivals.seconds)
                                : "-";
}

std::string batch_cell(const Row &, const Arrivals &arrivals)
{
    return arrivals.batches > 0 ? fmt::format("{:.1f}", arrivals.mean_batch()) : "-";
}

template <bool is_kernel> std::string drops_cell(const Row &, const Arrivals &arrivals)
{
    const uint64_t outside = arrivals.drops[kDropKernel] + arrivals.drops[kDropInterface];
    return std::to_string(is_kernel ? outside : arrivals.dropped() - outside);
}

constexpr std::array<Column, 9> kColumns = {{
    {"TSC read", false, driver_cell},
    {"packets", false, packets_cell},
    {"a second", false, rate_cell},
    {"a batch", false, batch_cell},
    {"kernel", false, drops_cell<true>},
    {"ours", false, drops_cell<false>},
    {"packets", true, packets_cell},
    {"a batch", true, batch_cell},
    {"kernel", true, drops_cell<true>},
}};

bool is_shown(const Column &column, const Results &results)
{
    return !column.is_of_count || !results.instruction_source.empty();
}

// text: the text of one column.
template <class Text> std::string columns_text(const Results &results, Text text)
{
    std::string line;
    for (const Column &column : kColumns)
        if (is_shown(column, results))
            line += fmt::format("{}{:>9}", column.cell == packets_cell ? " |" : "", text(column));
    return line;
}

std::string cells_of(const Row &row, const Results &results)
{
    return columns_text(results, [&](const Column &column) {
        return column.cell(row, column.is_of_count ? row.arrivals.counted : row.arrivals.timed);
    });
}
} // namespace

std::string drops_text(const Arrivals &arrivals)
{
    std::string text;
    for (size_t i = 0; i < kDropCauses; ++i) {
        std::string name = drop_name(i);
        std::replace(name.begin(), name.end(), '_', ' ');
        if (arrivals.drops[i] > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", arrivals.drops[i], name);
    }
    return text.empty() ? "none" : text;
}

std::string live_text(const Results &results)
{
    if (!results.live || results.rows.empty())
        return {};
    const std::string head =
        columns_text(results, [](const Column &column) { return column.heading; });
    std::string text = "\nPackets received in each row's own pass, and dropped by kernel or "
                       "interface, and by the flow's functions";
    text +=
        results.instruction_source.empty() ? "\n" : "; right:\nthe pass that counts instructions\n";
    text += fmt::format("{:<{}}{}\n", "", kNameColumns, head) +
            std::string(kNameColumns + head.size(), '-') + "\n";
    for (const Row &row : results.rows) {
        const std::string name = last_line_of_name(row.scenario.name, text);
        text += fmt::format("{:<{}}{}\n", name, kNameColumns, cells_of(row, results));
    }
    return text;
}

namespace
{
std::string measured_columns(const std::optional<Measured> &measured,
                             const std::optional<double> &scampi,
                             const std::optional<double> &intel)
{
    // fmt counts "±" as one column, which it is.
    if (!measured)
        return fmt::format(" |{:>9}{:>16}{:>8}{:>7}", "-", "-", paper(scampi), paper(intel));
    return fmt::format(" |{:>9}{:>16}{:>8}{:>7}", number(measured->raw),
                       with_interval(measured->net, measured->ci95), paper(scampi), paper(intel));
}

std::string rule(bool has_instructions)
{
    std::string line(kNameColumns + 5, '-');
    const std::string columns = "-+" + std::string(40, '-');
    return line + (has_instructions ? columns : "") + columns + "\n";
}

std::string cost_table(const Results &results, int table, const std::string &title)
{
    const bool has_instructions = !results.instruction_source.empty();
    std::string text;
    for (const Row &row : results.rows) {
        if (row.scenario.table != table)
            continue;
        const PaperFigures old = net_of_papi(row.scenario);
        const std::string name = last_line_of_name(row.scenario.name, text);
        text += fmt::format("{:<{}}{:>5}", name, kNameColumns, bytes_text(row.scenario));
        if (has_instructions)
            text +=
                measured_columns(row.instructions, old.scampi_instructions, old.intel_instructions);
        text += measured_columns(row.cycles, old.scampi_cycles, old.intel_cycles) + "\n";
    }
    if (text.empty())
        return text;
    const auto heading = [](const char *kind) {
        return fmt::format(" |{:>9}{:>16}{:>8}{:>7}", std::string(kind) + " raw", "net ± 95 %",
                           "SCAMPI", "Intel");
    };
    std::string head = fmt::format("\n{}\n{:<{}}{:>5}", title, "", kNameColumns, "bytes");
    if (has_instructions)
        head += heading("instr.");
    return head + heading("TSC") + "\n" + rule(has_instructions) + text;
}

std::string rate_table(const Results &results)
{
    std::string text;
    for (const Row &row : results.rows) {
        if (!row.rates || row.rates->lines.empty())
            continue;
        const std::string name = last_line_of_name(row.scenario.name, text);
        text += fmt::format("{:<{}}{:>5} |{:>9.2f} |", name, kNameColumns, bytes_text(row.scenario),
                            row.rates->packets_per_second / 1e6);
        for (const unsigned gbit : {10u, 25u, 100u}) {
            for (const unsigned frame_bytes : {64u, 1500u}) {
                std::string share = "-";
                for (const LineShare &line : row.rates->lines)
                    if (line.gbit == gbit && line.frame_bytes == frame_bytes)
                        share = number(line.share);
                text += fmt::format("{:>10}", share);
            }
        }
        text += "\n";
    }
    if (text.empty())
        return text;
    std::string head = fmt::format("\nRates that one core can sustain at the net cost: million "
                                   "packets/s, and as a multiple of line rate\n"
                                   "{:<{}}{:>5} |{:>9} |",
                                   "", kNameColumns, "bytes", "Mpkt/s");
    for (const char *line : {"10G/64", "10G/1500", "25G/64", "25G/1500", "100G/64", "100G/1500"})
        head += fmt::format("{:>10}", line);
    return head + "\n" + std::string(kNameColumns + 5, '-') + "-+" + std::string(10, '-') + "+" +
           std::string(60, '-') + "\n" + text;
}

std::string part_list(const Results &results)
{
    std::string text;
    for (const Row &row : results.rows) {
        if (row.parts.empty() || row.scenario.is_call())
            continue;
        std::string line = name_of(row.scenario) + ":";
        for (const RowPart &part : row.parts) {
            if (!part.cycles)
                continue;
            const std::string word = part.is_counted
                                         ? fmt::format(" {} {}", part.name, number(*part.cycles))
                                         : fmt::format(" ({} {})", part.name, number(*part.cycles));
            if (line.size() - (line.rfind('\n') + 1) + word.size() > kLineColumns)
                line += "\n   ";
            line += word;
        }
        text += line + "\n";
    }
    return text.empty() ? text
                        : "\nParts: net TSC cycles per packet, each without its nested parts; "
                          "those in brackets are not in the cost\n" +
                              text;
}
} // namespace

std::string table_text(const Results &results)
{
    std::string text = head_text(results);
    text += cost_table(results, 2,
                       "Table 2: cost of a packet in the packet thread: dispatch, functions, "
                       "publication of results");
    text += cost_table(results, 3, "Table 3: cost of one call");
    text += cost_table(results, 4,
                       "Table 4: what a further flow with the same functions adds to a packet (8 "
                       "further flows, divided by 8)");
    text += cost_table(results, kOwnTable,
                       "Flows given by --flow: cost of a packet in the packet thread");
    text += live_text(results);
    text += rate_table(results);
    text += additive_text(results);
    text += part_list(results);
    return text + notes_text(results);
}

std::string scenarios_text(const std::vector<Scenario> &scenarios)
{
    std::string text;
    for (const Scenario &scenario : scenarios)
        text += fmt::format("{:<22} table {}  {}{}\n", scenario.id, scenario.table, scenario.name,
                            scenario.frame_bytes ? fmt::format(", {} bytes", scenario.frame_bytes)
                                                 : "");
    return text;
}
} // namespace mapi_cost
