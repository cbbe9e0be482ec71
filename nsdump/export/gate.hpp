// SPDX-License-Identifier: MIT
// export: judged rules -> text, a table in Markdown, JUnit XML.
#pragma once

#include <string>
#include <vector>

#include "analyse/compare/gate.hpp"

namespace nsdump
{
std::string gate_text(const std::vector<GateResult> &results, bool has_colours);
// What failed and what is undecided, for a pull request; what holds is only counted.
std::string gate_markdown(const std::vector<GateResult> &results, const std::string &rules_path);
// A test case for each rule and slice; its class is the file of rules.
std::string gate_junit(const std::vector<GateResult> &results, const std::string &rules_path);
} // namespace nsdump
