// SPDX-License-Identifier: MIT
// table: results -> tables of at most 120 columns; packets received and lost by each row of a live
// device.
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

namespace
{
std::string tables_text(const Results &results)
{
    std::string text = cost_table(results, 2,
                                  "Table 2: cost of a packet in the packet thread: dispatch, "
                                  "functions, publication of results");
    text += cost_table(results, 3, "Table 3: cost of one call");
    text += cost_table(results, 4,
                       "Table 4: what a further flow with the same functions adds to a packet (8 "
                       "further flows, divided by 8)");
    text += cost_table(results, kOwnTable,
                       "Flows given by --flow: cost of a packet in the packet thread");
    text += live_text(results);
    return text + rate_table(results);
}
} // namespace

std::string summary_text(const Results &results)
{
    return summary_head_text(results) + tables_text(results) + findings_text(results);
}

std::string details_text(const Results &results)
{
    return head_text(results) + tables_text(results) + additive_text(results) + part_list(results) +
           notes_text(results);
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
