// SPDX-License-Identifier: MIT
// cells: numbers and names -> text for the columns of a table.
#pragma once

#include <optional>
#include <string>

#include "mapi_cost/source/scenario.hpp"

namespace mapi_cost
{
inline constexpr size_t kNameColumns = 30;
inline constexpr size_t kLineColumns = 118;

std::string number(double value);
// fmt counts "±" as one column, which it is.
// A missing interval is shown as a dash.
std::string with_interval(double value, const std::optional<double> &ci95);
std::string paper(const std::optional<double> &figure);

// Appends all lines of the name except the last to the text; returns the last.
std::string last_line_of_name(std::string name, std::string &text);
std::string bytes_text(const Scenario &scenario);
// Name and frame size on one line.
std::string name_of(const Scenario &scenario);

// Lines of at most kLineColumns, broken at spaces.
std::string wrapped(const std::string &text);
} // namespace mapi_cost
