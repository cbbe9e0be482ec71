// SPDX-License-Identifier: MIT
// cells: numbers and names -> text for the columns of a table.
#include "cells.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace mapi_cost
{
namespace
{
// At least three significant digits; a cost near zero keeps its sign and two decimals.
int decimals_of(double value)
{
    const double size = std::fabs(value);
    return size < 10 ? 2 : size < 100 ? 1 : 0;
}
} // namespace

std::string number(double value)
{
    return fmt::format("{:.{}f}", value, decimals_of(value));
}

// The interval keeps one nonzero digit, down to hundredths.
std::string with_interval(double value, const std::optional<double> &ci95)
{
    if (!ci95)
        return number(value) + " ± -";
    int decimals = std::max(decimals_of(value), *ci95 < 0.1 ? 2 : *ci95 < 1 ? 1 : 0);
    if (*ci95 >= 10)
        decimals = std::min(decimals, decimals_of(*ci95));
    return fmt::format("{:.{}f} ± {:.{}f}", value, decimals, *ci95, decimals);
}

std::string paper(const std::optional<double> &figure)
{
    return figure ? fmt::format("{:.0f}", *figure) : "-";
}

// Breaks a long list of functions into several lines and returns the last one.
std::string last_line_of_name(std::string name, std::string &text)
{
    while (name.size() > kNameColumns) {
        size_t at = name.rfind(" + ", kNameColumns - 2);
        if (at == std::string::npos || at < 3)
            at = name.find(": ") - 1;
        if (at >= name.size())
            break;
        text += name.substr(0, at + 2) + "\n";
        name = "  " + name.substr(at + 3);
    }
    return name;
}

std::string bytes_text(const Scenario &scenario)
{
    return scenario.frame_bytes ? std::to_string(scenario.frame_bytes) : "any";
}

std::string name_of(const Scenario &scenario)
{
    return scenario.name +
           (scenario.frame_bytes ? fmt::format(", {} bytes", scenario.frame_bytes) : "");
}

std::string wrapped(const std::string &text)
{
    std::string lines;
    size_t from = 0;
    while (text.size() - from > kLineColumns) {
        size_t to = text.rfind(' ', from + kLineColumns);
        if (to == std::string::npos || to <= from)
            break;
        lines += text.substr(from, to - from) + "\n";
        from = to + 1;
    }
    return lines + text.substr(from) + "\n";
}
} // namespace mapi_cost
