// SPDX-License-Identifier: MIT
// report: options and sums -> the first and last line of the log, the last lines, and notes on what
// is missing.
#pragma once

#include <string>

#include "node.hpp"

namespace impair
{
// Of the log.
std::string first_line(const Options &options);
std::string end_line(const Result &result);

// Of standard output.
std::string last_lines(const Options &options, const Result &result);

// On standard error: packets that were not forwarded although nobody asked for it.
void tell_missing(const Options &options, const Result &result);
} // namespace impair
