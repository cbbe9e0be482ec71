// SPDX-License-Identifier: MIT
// table: results -> text of at most 120 columns.
#include "table.hpp"

#include <vector>

#include <fmt/format.h>

#include "additive_table.hpp"
#include "cells.hpp"
#include "live_table.hpp"
#include "table_head.hpp"

namespace mapi_cost
{
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
} // namespace mapi_cost
