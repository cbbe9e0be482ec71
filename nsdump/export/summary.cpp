// SPDX-License-Identifier: MIT
// export: a report -> the most important of it, on one screen.
#include "export/summary.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "export/columns.hpp"
#include "export/escape.hpp"
#include "export/field_tables.hpp"

namespace nsdump
{
namespace
{
using command::counted;

constexpr size_t kMostWarnings = 3;
constexpr size_t kMostNameColumns = 32;
constexpr const char *kCut = "..."; // after a text that does not fit

constexpr const char *kBold = "\033[1m", *kRed = "\033[31m", *kYellow = "\033[33m",
                     *kFaint = "\033[2m", *kPlain = "\033[0m";

class Screen
{
public:
    explicit Screen(const ScreenSize &size) : columns_(size.columns), has_colours_(size.has_colours)
    {
    }
    size_t columns() const { return columns_; }
    void line(const std::string &text, const char *colour = nullptr)
    {
        const std::string shown = cut_to(text, columns_, kCut);
        text_ += colour && has_colours_ && !shown.empty() ? colour + shown + kPlain : shown;
        text_ += '\n';
    }
    std::string take() { return std::move(text_); }

private:
    size_t columns_;
    bool has_colours_;
    std::string text_;
};

const FieldReport *ticks_of(const SliceReport &slice)
{
    for (const FieldReport &field : slice.values)
        if (field.field == "ticks")
            return &field;
    return nullptr;
}

// Time in the slice and not in slices inside it; with those if that is not known.
double own_total(const FieldReport &field)
{
    const double total = field.self  ? field.self->total
                         : field.net ? field.net->total
                                     : field.raw.total;
    return std::isfinite(total) ? std::max(total, 0.0) : 0;
}

using Cells = std::vector<std::string>;

std::string number_or_dash(const std::optional<double> &value, int digits)
{
    return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

// A narrow screen lacks the last columns.  Raw values are only shown if there are no others.
Cells titles(bool is_raw)
{
    return {"share", "count", is_raw ? "raw" : "net", "±95 %", "p99", "net/packet"};
}

Cells cells_of(const FieldReport &field, double all_ticks, bool is_raw)
{
    using Value = std::optional<double>;
    const Distribution &shown = field.net ? *field.net : field.raw;
    const bool has_mean = field.net || is_raw;
    return {fmt::format("{:.1f} %", all_ticks > 0 ? 100 * own_total(field) / all_ticks : 0),
            std::to_string(field.count),
            number_or_dash(has_mean ? Value(shown.trimmed_mean) : Value(), 1),
            number_or_dash(has_mean ? shown.trimmed_ci95 : Value(), 2),
            number_or_dash(shown.p99, 1),
            number_or_dash(field.per_packet ? field.per_packet->net_trimmed : Value(), 2)};
}

struct Row {
    std::string name;
    double own_ticks;
    const FieldReport *field;
};

std::vector<Row> rows_of(const StatsReport &report)
{
    std::vector<Row> rows;
    for (const SliceReport &slice : report.slices)
        if (const FieldReport *const field = ticks_of(slice))
            rows.push_back({marked_name(slice), own_total(*field), field});
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row &a, const Row &b) { return a.own_ticks > b.own_ticks; });
    return rows;
}

bool are_raw(const std::vector<Row> &rows)
{
    return std::ranges::none_of(rows, [](const Row &row) { return row.field->net.has_value(); });
}

void put_table(const std::vector<Row> &rows, size_t shown, Screen &screen)
{
    const bool is_raw = are_raw(rows);
    double all_ticks = 0;
    for (const Row &row : rows)
        all_ticks += row.own_ticks;
    size_t name_width = 5;
    std::vector<Cells> table = {titles(is_raw)};
    for (size_t i = 0; i < shown; ++i) {
        table.push_back(cells_of(*rows[i].field, all_ticks, is_raw));
        name_width =
            std::max(name_width,
                     std::min({display_width(rows[i].name), kMostNameColumns, screen.columns()}));
    }
    std::vector<size_t> widths;
    size_t all_columns = name_width;
    for (size_t column = 0; column < table[0].size(); ++column) {
        size_t width = 0;
        for (const Cells &cells : table)
            width = std::max(width, display_width(cells[column]));
        all_columns += 2 + width;
        if (all_columns > screen.columns())
            break;
        widths.push_back(width);
    }
    for (size_t i = 0; i < table.size(); ++i) {
        const std::string name = i == 0 ? "slice" : cut_to(rows[i - 1].name, name_width, kCut);
        std::string line = left_aligned(name, name_width);
        for (size_t column = 0; column < widths.size(); ++column)
            line += "  " + right_aligned(table[i][column], widths[column]);
        screen.line(line, i == 0 ? kBold : nullptr);
    }
}

// What is wrong with the recording itself, in a few words.
void put_losses(const StatsReport &report, Screen &screen)
{
    const Losses &losses = report.losses;
    const bool is_whole =
        losses.is_issued_known() && losses.lost_sum() == 0 && losses.equation_holds.value_or(false);
    screen.line(fmt::format("losses    {}{}",
                            losses.lost_sum() > 0 ? losses.lost_words() + ": " : "",
                            losses.equation()),
                is_whole ? nullptr : kRed);
}

void put_warnings(const std::vector<std::string> &warnings, Screen &screen)
{
    const size_t shown = std::min(warnings.size(), kMostWarnings);
    for (size_t i = 0; i < shown; ++i)
        screen.line("warning   " + printable(warnings[i]), kYellow);
}

// What --all would add.
std::string rest_of(const StatsReport &report, size_t slices)
{
    std::string rest;
    const auto add = [&](size_t count, const char *one) {
        if (count > 0)
            rest += counted(count, one) + ", ";
    };
    add(slices, "more slice");
    add(report.warnings.size() - std::min(report.warnings.size(), kMostWarnings), "more warning");
    add(report.counter_names.size() + report.kernel_counter_names.size(), "counter");
    add(report.units.size(), "unit");
    add(report.marks.size(), "mark");
    return rest + "machine, constants, classes: nsdump stats --all";
}
} // namespace

std::string stats_summary(const StatsReport &report, const ScreenSize &size)
{
    Screen screen(size);
    screen.line(fmt::format("trace     {}: {}, end: {}", printable(report.path),
                            counted(report.records, "record"), report.end));
    put_losses(report, screen);
    const std::vector<Row> rows = rows_of(report);
    // Besides the rows: two lines above, the table's title and the empty lines around it, the
    // warnings, the last line and the prompt.
    const size_t others = 8 + std::min(report.warnings.size(), kMostWarnings);
    const size_t room = size.lines > others ? size.lines - others : 1;
    const size_t shown = std::min(rows.size(), room);
    if (shown > 0) {
        screen.line("");
        screen.line(fmt::format("in {}; {}: trimmed mean; share: of all slices' own time, not "
                                "trimmed",
                                printable(rows[0].field->unit), are_raw(rows) ? "raw" : "net"));
        put_table(rows, shown, screen);
    }
    screen.line("");
    put_warnings(report.warnings, screen);
    screen.line(rest_of(report, rows.size() - shown), kFaint);
    return screen.take();
}
} // namespace nsdump
