// SPDX-License-Identifier: MIT
// cli: an interval and its rows -> a table.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analyse/losses.hpp"
#include "cli/top/text.hpp"
#include "export/columns.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kMostNameColumns = 40, kLeastNameColumns = 12;
constexpr const char *kCut = "~";    // after a text that does not fit
constexpr size_t kValueColumns = 65; // beside the name

// "12 k": at most four digits.
std::string short_number(double value)
{
    constexpr std::array kUnits = {"", " k", " M", " G"};
    size_t unit = 0;
    while (unit + 1 < kUnits.size() && value >= 9999.5) {
        value /= 1000;
        ++unit;
    }
    return fmt::format("{:.{}f}{}", value, value < 10 && value != std::floor(value) ? 1 : 0,
                       kUnits[unit]);
}

std::string value_text(const std::optional<double> &value)
{
    if (!value)
        return "-";
    const double size = value < 0 ? -*value : *value;
    return fmt::format("{:.{}f}", *value, size < 10 ? 2 : size < 1000 ? 1 : 0);
}

std::string lost_text(const TopInterval &interval)
{
    if (interval.lost_sum() == 0)
        return "0";
    std::string causes;
    for (size_t cause = 0; cause < interval.lost.size(); ++cause)
        if (interval.lost[cause] > 0)
            causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", lost_name(cause),
                                  short_number(double(interval.lost[cause]) / interval.seconds));
    return fmt::format("{} ({})", short_number(double(interval.lost_sum()) / interval.seconds),
                       causes);
}

std::string probes_text(const TopInterval &interval)
{
    const std::optional<double> pair_ns = interval.pair_ns(), share = interval.probes_share();
    if (!pair_ns || !share)
        return "probes: cost unknown, values are raw";
    return fmt::format("probes: {:.1f} ns a pair, {:.2f} % of a CPU", *pair_ns, 100 * *share);
}

std::string head(const TopInterval &interval, const TopOrder &order)
{
    const StatsReport &report = interval.live.report;
    const double records_per_s =
        interval.seconds > 0 ? double(report.records) / interval.seconds : 0;
    const std::string unread =
        interval.live.unread_records > 0
            ? fmt::format("; {} records unreadable", interval.live.unread_records)
            : "";
    return fmt::format("{} (process {}), {:.1f} s{}; clock {} {}; by {}{}{}\n",
                       printable(interval.program), interval.pid, interval.elapsed_s,
                       interval.has_ended ? ", program ended" : "", printable(report.clock.source),
                       printable(report.clock.mode), kTopSorts[size_t(order.sort)],
                       order.is_reverse ? ", smallest first" : "",
                       order.filter.empty() ? "" : "; only *" + printable(order.filter) + "*") +
           fmt::format("records/s {}, lost/s {}{}; {}\n", short_number(records_per_s),
                       lost_text(interval), unread, probes_text(interval));
}

// Name of the counter that the table shows; empty without counters.
std::string shown_counter(const std::vector<TopRow> &rows)
{
    for (const TopRow &row : rows)
        if (const TopCounter *found = main_counter(row))
            return found->name == "instructions" ? "instr." : printable(found->name);
    return "";
}

std::string title_text(size_t name_columns, const std::string &counter)
{
    return fmt::format("{} {:>8} {:>9} {:>8}{} {:>9} {:>8} {:>7}\n",
                       left_aligned("slice", name_columns), "per s", "net ns", "± 95 %",
                       counter.empty() ? "" : fmt::format(" {:>9}", cut_to(counter, 9, kCut)),
                       "ns/packet", "± 95 %", "% CPU");
}

std::string row_text(const TopRow &row, size_t name_columns, bool has_counter)
{
    const TopCounter *const counter = main_counter(row);
    const std::string counted =
        counter ? value_text(counter->value.mean) + (counter->is_net ? "" : "r") : "-";
    const auto mean = row.ns ? std::optional(row.ns->mean) : std::nullopt;
    return fmt::format(
        "{} {:>8} {:>9} {:>8}{} {:>9} {:>8} {:>7}\n",
        left_aligned(cut_to(printable(row.name), name_columns, kCut), name_columns),
        short_number(row.per_s), value_text(mean) + (row.ns && !row.is_net ? "r" : ""),
        value_text(row.ns ? row.ns->ci95 : std::nullopt),
        has_counter ? fmt::format(" {:>9}", counted) : "", value_text(row.packet_ns),
        value_text(row.packet_ns_ci95), row.share ? fmt::format("{:.2f}", 100 * *row.share) : "-");
}

size_t name_columns_of(const std::vector<TopRow> &rows, size_t columns)
{
    size_t widest = kLeastNameColumns;
    for (const TopRow &row : rows)
        widest = std::max(widest, display_width(printable(row.name)));
    const size_t room = columns - std::min(columns, kValueColumns);
    return std::max(kLeastNameColumns, std::min({widest, kMostNameColumns, room}));
}

std::string cut_lines(const std::string &text, size_t columns)
{
    std::string lines;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = text.find('\n', begin);
        lines += cut_to(text.substr(begin, end - begin), columns, kCut) + "\n";
        begin = end + 1;
    }
    return lines;
}
} // namespace

std::string top_table(const TopInterval &interval, const std::vector<TopRow> &rows,
                      const TopOrder &order, const TopLimits &limits)
{
    const size_t name_columns = name_columns_of(rows, limits.columns);
    const std::string counter = shown_counter(rows);
    std::string text = head(interval, order) + title_text(name_columns, counter);
    for (size_t place = 0; place < std::min(rows.size(), limits.rows); ++place)
        text += row_text(rows[place], name_columns, !counter.empty());
    return cut_lines(text, limits.columns);
}
} // namespace nsdump
