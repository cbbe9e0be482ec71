// SPDX-License-Identifier: MIT
// live_table: packets received and lost by each row of a live device -> text.
#include "live_table.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cells.hpp"

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
    const std::uint64_t outside = arrivals.drops[kDropKernel] + arrivals.drops[kDropInterface];
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
template <class Text> std::string line_of(const Results &results, Text text)
{
    std::string line;
    for (const Column &column : kColumns)
        if (is_shown(column, results))
            line += fmt::format("{}{:>9}", column.cell == packets_cell ? " |" : "", text(column));
    return line;
}

std::string cells_of(const Row &row, const Results &results)
{
    return line_of(results, [&](const Column &column) {
        return column.cell(row, column.is_of_count ? row.arrivals.counted : row.arrivals.timed);
    });
}
} // namespace

std::string drops_text(const Arrivals &arrivals)
{
    std::string text;
    for (std::size_t i = 0; i < kDropCauses; ++i) {
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
    const std::string head = line_of(results, [](const Column &column) { return column.heading; });
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
} // namespace mapi_cost
