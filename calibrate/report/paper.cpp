// SPDX-License-Identifier: MIT
// paper: results -> the rows of the NetSlice paper's tables.
#include "paper.hpp"

#include <algorithm>

namespace calibrate
{
// The 2001 column is the paper's Table 2.  Its T_NSO and T_NSA are costs without work to overlap
// with, not the inner and outer that are subtracted.
const std::array<Macro, kMacroCount> kMacros = {{
    {"NSI", "NET_SLICE_INIT", "INIT", &ProbeRow::outer_alone, &CounterCost::outer, 87},
    {"NSS", "NET_SLICE_START", "START", &ProbeRow::outer_alone, &CounterCost::outer, 132},
    {"NST", "NET_SLICE_STOP", "STOP", &ProbeRow::outer_alone, &CounterCost::outer, 154},
    {"NSE", "NET_SLICE_EXIT", "EXIT", &ProbeRow::outer_alone, &CounterCost::outer, 904},
    {"NSO", "empty slice", "START+STOP", &ProbeRow::inner_alone, &CounterCost::inner, 150},
    {"NSA", "START and STOP", "START+STOP", &ProbeRow::outer_alone, &CounterCost::outer, 303},
}};

namespace
{
std::optional<Estimate> figure(const Series &series)
{
    return series.passes().empty() ? std::nullopt : std::optional(series.total());
}

template <typename Row>
std::optional<Estimate> named_figure(const std::vector<Row> &rows, const std::string &name)
{
    for (const Row &row : rows)
        if (row.name == name)
            return figure(row.ticks);
    return std::nullopt;
}

InstructionLine instruction_line(const Results &results, const InstructionVariant &variant,
                                 bool is_virtual)
{
    const char *note = is_virtual && variant.note_in_vm ? variant.note_in_vm : variant.note;
    InstructionLine line = {variant.name, variant.ns_2001,
                            named_figure(results.instructions, variant.name), ""};
    if (!line.ticks)
        line.ticks = named_figure(results.clock_reads, variant.name);
    if (variant.begin == needs_nsmod) {
        line.ticks = named_figure(results.kernel_costs, variant.name);
        note = "in the kernel";
    }
    if (line.ticks) {
        line.note = note ? note : "";
        return line;
    }
    line.note = results.why_lacking(variant.name);
    if (line.note.empty())
        line.note = "not measured";
    return line;
}

void add_kernel_instruction(const Results &results, const InstructionVariant &variant, Paper &paper)
{
    const auto ticks = named_figure(results.kernel_costs, variant.name);
    const std::string lack = results.why_lacking(kInKernel + std::string(variant.name));
    if (!ticks && lack.empty())
        return;
    paper.kernel_instructions.push_back({variant.name, variant.ns_2001, ticks, ticks ? "" : lack});
}

void add_kernel_macros(const Results &results, Paper &paper)
{
    paper.why_no_kernel = results.why_lacking(kKernel);
    if (results.kernel_costs.empty() && paper.why_no_kernel.empty())
        paper.why_no_kernel = "not measured";
    for (const Macro &macro : kMacros) {
        const bool is_empty_slice = macro.ticks == &ProbeRow::inner_alone; // not measured by nsmod
        KernelMacroLine line = {&macro, {}, {}};
        if (!is_empty_slice) {
            line.recorded = named_figure(results.kernel_costs, macro.row);
            line.idle = named_figure(results.kernel_costs, "idle " + std::string(macro.row));
        }
        if (line.recorded || line.idle)
            paper.kernel_macros.push_back(line);
        else if (paper.why_no_kernel.empty() && !is_empty_slice)
            paper.why_no_kernel = results.why_lacking(kInKernel + std::string(macro.row));
    }
}

const ProbeRow *find_row(const Results &results, const Macro &macro, const Setting &setting)
{
    for (const auto *rows : {&results.probes, &results.halves})
        for (const ProbeRow &row : *rows)
            if (row.macro == macro.row && row.setting == setting)
                return &row;
    return nullptr;
}

std::optional<Estimate> macro_ticks(const Results &results, const Macro &macro,
                                    const Setting &setting)
{
    const ProbeRow *row = find_row(results, macro, setting);
    return row ? figure(row->*macro.ticks) : std::nullopt;
}

std::optional<Estimate> macro_count(const Results &results, const Macro &macro,
                                    const Setting &setting, const std::string &counter)
{
    const ProbeRow *row = find_row(results, macro, setting);
    if (row)
        for (const CounterCost &cost : row->counter_costs)
            if (cost.name == counter)
                return figure(cost.*macro.counted);
    return std::nullopt;
}

void add_events(const Results &results, Paper &paper)
{
    for (const ProbeRow &row : results.probes) {
        if (row.macro != "START+STOP" || row.setting.ring != paper.ring)
            continue;
        for (const CounterCost &cost : row.counter_costs) {
            EventLine line = {cost.name, row.setting.counters, row.setting.mode, {}};
            std::transform(kMacros.begin(), kMacros.end(), line.counts.begin(),
                           [&](const Macro &macro) {
                               return macro_count(results, macro, row.setting, cost.name);
                           });
            paper.events.push_back(line);
        }
    }
    if (paper.events.empty())
        paper.why_no_events = results.why_no_counters();
    if (paper.events.empty() && paper.why_no_events.empty())
        paper.why_no_events = "no counter source was measured";
}
} // namespace

Paper paper_of(const Results &results, std::span<const InstructionVariant> variants,
               bool is_virtual)
{
    Paper paper;
    for (const InstructionVariant &variant : variants)
        paper.instructions.push_back(instruction_line(results, variant, is_virtual));
    for (const InstructionVariant &variant : variants)
        add_kernel_instruction(results, variant, paper);
    add_kernel_macros(results, paper);
    if (!results.probes.empty())
        paper.ring = results.probes.front().setting.ring; // the better kind comes first
    for (const Macro &macro : kMacros)
        paper.macros.push_back({&macro, macro_ticks(results, macro, {"fast", paper.ring, "none"}),
                                macro_ticks(results, macro, {"ordered", paper.ring, "none"})});
    add_events(results, paper);
    return paper;
}
} // namespace calibrate
