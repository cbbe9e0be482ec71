// SPDX-License-Identifier: MIT
// export: comparisons of two programs -> a table for people, CSV, JSON of schema netslice-diff-1.
#include "export/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/columns.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
using Json = nlohmann::ordered_json;

// A longer name is on a line of its own above its figures.
constexpr size_t kMostNameColumns = 40;
constexpr size_t kCells = 6;
constexpr std::array<const char *, kCells + 1> kTitles = {
    "slice", "figure", "first", "second", "difference", "±95 %", "percent"};

std::string figure_name(const Comparison &one)
{
    return one.unit + (one.is_per_packet ? "/packet" : "");
}

std::optional<double> percent_of(const Comparison &one)
{
    if (!one.first || !one.second || one.first->value == 0)
        return std::nullopt;
    return 100 * (one.second->value - one.first->value) / std::fabs(one.first->value);
}

std::string number(double value)
{
    return std::fabs(value) < 1e7 ? fmt::format("{:.2f}", value) : fmt::format("{:.7g}", value);
}

// Differences that are exact may be small: one instruction in a million slices.
std::string signed_number(double value)
{
    return value != 0 && std::fabs(value) < 0.005 ? fmt::format("{:+.2g}", value)
                                                  : fmt::format("{:+.2f}", value);
}

using Cells = std::array<std::string, kCells>;

Cells cells_of(const Comparison &one)
{
    const bool is_compared = one.verdict != Verdict::kNotComparable;
    const auto value = [](const std::optional<Estimate> &estimate) {
        return estimate ? number(estimate->value) : std::string("-");
    };
    const auto percent = percent_of(one);
    return {printable(figure_name(one)),
            value(one.first),
            value(one.second),
            is_compared ? signed_number(one.difference.value) : "-",
            !is_compared              ? "-"
            : one.difference.is_exact ? "exact"
                                      : number(one.difference.half95()),
            is_compared && percent ? signed_number(*percent) : "-"};
}

std::string verdict_text(const Comparison &one, bool has_colours)
{
    std::string text = verdict_name(one.verdict);
    if (!one.why.empty())
        text += ": " + printable(one.why);
    if (!has_colours)
        return text;
    const char *colour = nullptr;
    if (one.verdict == Verdict::kSlower)
        colour = "\x1b[31m"; // red
    else if (one.verdict == Verdict::kFaster)
        colour = "\x1b[32m"; // green
    return colour ? colour + text + "\x1b[0m" : text;
}

void add_table(const Compared &compared, bool has_colours, std::string &out)
{
    std::vector<Cells> rows;
    std::array<size_t, kCells> widths{};
    size_t name_width = display_width(kTitles[0]);
    for (size_t i = 0; i < kCells; ++i)
        widths[i] = display_width(kTitles[i + 1]);
    for (const Comparison &one : compared.comparisons) {
        rows.push_back(cells_of(one));
        const size_t columns = display_width(printable(one.slice));
        if (columns <= kMostNameColumns)
            name_width = std::max(name_width, columns);
        for (size_t i = 0; i < kCells; ++i)
            widths[i] = std::max(widths[i], display_width(rows.back()[i]));
    }
    const auto add_line = [&](const std::string &name, const auto &cells,
                              const std::string &verdict) {
        out += name;
        out += display_width(name) > name_width ? "\n" + std::string(name_width, ' ')
                                                : padding(name, name_width);
        for (size_t i = 0; i < kCells; ++i) // figures are words, which begin in one column
            out += "  " + (i == 0 ? left_aligned(cells[i], widths[i])
                                  : right_aligned(cells[i], widths[i]));
        out += "  " + verdict + "\n";
    };
    Cells titles;
    std::copy(kTitles.begin() + 1, kTitles.end(), titles.begin());
    add_line(kTitles[0], titles, "verdict");
    for (size_t i = 0; i < rows.size(); ++i) {
        const Comparison &one = compared.comparisons[i];
        add_line(printable(one.slice), rows[i], verdict_text(one, has_colours));
    }
}

void add_side(const char *title, const Runs &runs, std::string &out)
{
    for (size_t i = 0; i < runs.size(); ++i)
        out += fmt::format("{:<9} {}\n", i == 0 ? title : "", printable(runs[i].path));
}

// The largest; none if each side has several runs.
std::optional<double> assumed_spread(const Compared &compared)
{
    std::optional<double> spread;
    for (const Comparison &one : compared.comparisons)
        if (one.verdict != Verdict::kNotComparable && one.difference.assumed_spread)
            spread = std::max(spread.value_or(0), *one.difference.assumed_spread);
    return spread;
}

void add_summary(const Compared &compared, std::string &out)
{
    out += "\n";
    for (const Verdict verdict : kVerdicts) {
        const auto count =
            std::count_if(compared.comparisons.begin(), compared.comparisons.end(),
                          [&](const Comparison &one) { return one.verdict == verdict; });
        if (count > 0)
            out += fmt::format("{:<9} {}\n", count, verdict_name(verdict));
    }
    const auto spread = assumed_spread(compared);
    if (!spread)
        return;
    out += fmt::format(
        "note      one run on each side: the variance between runs is unknown; {:.3g} % is "
        "assumed{}\n          (record more and name them with --baseline, or set --run-spread)\n",
        100 * *spread,
        !compared.options.run_spread && *spread > kLeastSpread
            ? ",\n          the share of the time in which another program used the core's other "
              "thread"
            : "");
}

void add_number(std::string &out, const std::optional<double> &value)
{
    out += ',';
    if (value)
        fmt::format_to(std::back_inserter(out), "{:.10g}", *value);
}

std::optional<double> value_of(const std::optional<Estimate> &estimate)
{
    return estimate ? std::optional(estimate->value) : std::nullopt;
}

Json or_null(const std::optional<double> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json paths_of(const Runs &runs)
{
    Json paths = Json::array();
    for (const StatsReport &run : runs)
        paths.push_back(run.path);
    return paths;
}

Json comparison_of(const Comparison &one)
{
    const bool is_compared = one.verdict != Verdict::kNotComparable;
    const auto if_compared = [&](const Json &value) { return is_compared ? value : Json(nullptr); };
    return {{"slice", one.slice},
            {"kernel", one.is_kernel},
            {"field", one.field},
            {"unit", figure_name(one)},
            {"first", or_null(value_of(one.first))},
            {"second", or_null(value_of(one.second))},
            {"difference", if_compared(one.difference.value)},
            {"ci95", if_compared(one.difference.half95())},
            {"percent", if_compared(or_null(percent_of(one)))},
            {"exact", one.difference.is_exact},
            {"p_adjusted", if_compared(one.p_adjusted)},
            {"verdict", verdict_name(one.verdict)},
            {"why", one.why}};
}
} // namespace

std::string comparison_text(const Compared &compared, bool has_colours)
{
    std::string out;
    add_side("first", compared.first, out);
    add_side("second", compared.second, out);
    out += "\n";
    add_table(compared, has_colours, out);
    add_summary(compared, out);
    return out;
}

std::string comparison_csv(const Compared &compared)
{
    std::string out = "slice,kernel,field,unit,first,second,difference,ci95,percent,exact,"
                      "p_adjusted,verdict,why\n";
    for (const Comparison &one : compared.comparisons) {
        const bool is_compared = one.verdict != Verdict::kNotComparable;
        const auto if_compared = [&](double value) {
            return is_compared ? std::optional(value) : std::nullopt;
        };
        out += fmt::format("{},{:d},{},{}", csv_field(one.slice), one.is_kernel,
                           csv_field(one.field), csv_field(figure_name(one)));
        add_number(out, value_of(one.first));
        add_number(out, value_of(one.second));
        add_number(out, if_compared(one.difference.value));
        add_number(out, if_compared(one.difference.half95()));
        add_number(out, is_compared ? percent_of(one) : std::nullopt);
        out += fmt::format(",{:d}", one.difference.is_exact);
        add_number(out, if_compared(one.p_adjusted));
        out += fmt::format(",{},{}\n", verdict_name(one.verdict), csv_field(one.why));
    }
    return out;
}

std::string comparison_json(const Compared &compared)
{
    Json json = {{"schema", "netslice-diff-1"},
                 {"first", paths_of(compared.first)},
                 {"second", paths_of(compared.second)},
                 {"chance", kChance},
                 {"run_spread_assumed",
                  assumed_spread(compared) ? Json(*assumed_spread(compared)) : Json(nullptr)},
                 {"comparisons", Json::array()}};
    for (const Comparison &one : compared.comparisons)
        json["comparisons"].push_back(comparison_of(one));
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
} // namespace nsdump
