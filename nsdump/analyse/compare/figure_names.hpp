// SPDX-License-Identifier: MIT
// compare: rules, and the traces they are for -> rules whose figure no trace can have.
#pragma once

#include <string>
#include <vector>

#include "analyse/compare/rules.hpp"
#include "analyse/compare/side.hpp"

namespace nsdump
{
// Whether the figure is a number of slices or records, such as "count" or "lost".
bool is_count_figure(const std::string &figure);

// A counter that only the traces of other machines have is known: its rule cannot be judged here,
// but is not wrong.
std::vector<RuleFault> unknown_figures(const std::vector<Rule> &rules, const Runs &runs,
                                       const Runs &baseline);
} // namespace nsdump
