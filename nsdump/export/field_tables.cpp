// SPDX-License-Identifier: MIT
// export: slices of a report -> tables for people, the most expensive slice first.
#include "export/field_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "export/columns.hpp"

namespace nsdump
{
namespace
{
std::string number(double value)
{
    return fmt::format("{:.1f}", value);
}

std::string number_or_dash(const std::optional<double> &value)
{
    return value ? number(*value) : "-";
}

std::string fine_or_dash(const std::optional<double> &value)
{
    return value ? fmt::format("{:.2f}", *value) : "-";
}

const Distribution &net_or_raw(const FieldReport &field)
{
    return field.net ? *field.net : field.raw;
}

struct Column {
    const char *title;
    std::string (*cell)(const FieldReport &field);
};

constexpr std::array kColumns = {
    Column{"count", [](const FieldReport &field) { return std::to_string(field.count); }},
    Column{"raw", [](const FieldReport &field) { return number(field.raw.trimmed_mean); }},
    Column{
        "net",
        [](const FieldReport &field) { return field.net ? number(field.net->trimmed_mean) : "-"; }},
    Column{"±95 %",
           [](const FieldReport &field) {
               return field.net ? fine_or_dash(field.net->trimmed_ci95) : "-";
           }},
    Column{"mean net",
           [](const FieldReport &field) { return field.net ? number(field.net->mean) : "-"; }},
    Column{"mean self",
           [](const FieldReport &field) { return field.self ? number(field.self->mean) : "-"; }},
    Column{"p50", [](const FieldReport &field) { return number_or_dash(net_or_raw(field).p50); }},
    Column{"p99", [](const FieldReport &field) { return number_or_dash(net_or_raw(field).p99); }},
    Column{"net/packet",
           [](const FieldReport &field) {
               return field.per_packet ? fine_or_dash(field.per_packet->net_trimmed) : "-";
           }},
    Column{"±95 %",
           [](const FieldReport &field) {
               return field.per_packet ? fine_or_dash(field.per_packet->net_trimmed_ci95) : "-";
           }},
};

// A longer name is printed on its own line above its figures, so it is not truncated and does not
// widen the table.
constexpr size_t kMostNameColumns = 40;

struct Row {
    const SliceReport *slice;
    const FieldReport *field;
};

std::vector<Row> rows_of(const SliceList &slices, const std::string &field, bool is_kernel)
{
    std::vector<Row> rows;
    for (const SliceReport *slice : slices)
        for (const FieldReport &value : slice->values)
            if (value.field == field && slice->is_kernel == is_kernel)
                rows.push_back({slice, &value});
    return rows;
}

struct Widths {
    size_t name = 5;
    std::array<size_t, kColumns.size()> columns{};

    explicit Widths(const std::vector<Row> &rows)
    {
        for (size_t i = 0; i < kColumns.size(); ++i)
            columns[i] = display_width(kColumns[i].title);
        for (const Row &row : rows) {
            name =
                std::max(name, std::min(display_width(marked_name(*row.slice)), kMostNameColumns));
            for (size_t i = 0; i < kColumns.size(); ++i)
                columns[i] = std::max(columns[i], kColumns[i].cell(*row.field).size());
        }
    }
};

void add_name(const std::string &name, size_t width, std::string &out)
{
    out += display_width(name) <= width ? left_aligned(name, width)
                                        : name + '\n' + std::string(width, ' ');
}

void add_table(const std::vector<Row> &rows, std::string &out)
{
    const SliceReport &first = *rows.front().slice;
    const Widths widths(rows);
    out += fmt::format("\n{}{}: {}\n", first.is_kernel ? "kernel, " : "",
                       printable(rows.front().field->field), printable(rows.front().field->unit));
    add_name("slice", widths.name, out);
    const auto add_cell = [&](size_t i, const std::string &cell) {
        out += "  " + right_aligned(cell, widths.columns[i]);
    };
    for (size_t i = 0; i < kColumns.size(); ++i)
        add_cell(i, kColumns[i].title);
    out += '\n';
    for (const Row &row : rows) {
        add_name(marked_name(*row.slice), widths.name, out);
        for (size_t i = 0; i < kColumns.size(); ++i)
            add_cell(i, kColumns[i].cell(*row.field));
        out += '\n';
    }
}

double cost_of(const SliceReport &slice)
{
    for (const FieldReport &field : slice.values)
        if (const double total = net_or_raw(field).total;
            field.field == "ticks" && std::isfinite(total))
            return total;
    return -std::numeric_limits<double>::infinity();
}

// By more than the rounding of the two numbers.
bool exceeds_raw(const SliceReport &slice)
{
    constexpr double kLeast = 0.1;
    return std::any_of(slice.values.begin(), slice.values.end(), [](const FieldReport &field) {
        return field.field == "ticks" && field.net &&
               field.net->trimmed_mean > field.raw.trimmed_mean + kLeast;
    });
}
} // namespace

SliceList by_cost(const StatsReport &report)
{
    SliceList slices;
    slices.reserve(report.slices.size());
    for (const SliceReport &slice : report.slices)
        slices.push_back(&slice);
    std::stable_sort(slices.begin(), slices.end(), [](const SliceReport *a, const SliceReport *b) {
        return a->is_kernel != b->is_kernel ? b->is_kernel : cost_of(*a) > cost_of(*b);
    });
    return slices;
}

std::string field_tables_text(const StatsReport &report, const SliceList &slices)
{
    std::string out;
    const auto add = [&](const std::string &field, bool is_kernel) {
        if (const auto rows = rows_of(slices, field, is_kernel); !rows.empty())
            add_table(rows, out);
    };
    for (const bool is_kernel : {false, true}) {
        add("ticks", is_kernel);
        for (const std::string &counter :
             is_kernel ? report.kernel_counter_names : report.counter_names)
            add(counter, is_kernel);
    }
    if (out.empty())
        return out;
    out += fmt::format(
        "\nmeans     raw, net and net/packet are trimmed: without up to {:g} % of the "
        "slices at either end\n"
        "          (if there are {:g} or more), so that interrupts and preemption hardly "
        "count; mean net and\n"
        "          mean self are of all slices\n",
        100 * kTrimmedShare, std::ceil(1 / kTrimmedShare));
    if (std::any_of(slices.begin(), slices.end(),
                    [](const SliceReport *slice) { return exceeds_raw(*slice); }))
        out += "          net exceeds raw where a slice's two clock reads overlap with its work: "
               "inner is negative\n";
    return out;
}
} // namespace nsdump
