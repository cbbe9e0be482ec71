// SPDX-License-Identifier: MIT
// Fuzz target: any bytes as a rule file of nsdump gate -> rules that are judged on two slices, or
// faults whose places lie in their lines.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "analyse/compare/figure_names.hpp"
#include "analyse/compare/gate.hpp"
#include "export/gate.hpp"
#include "unit/nsdump/analyse/compare/made_up_report.hpp"

namespace
{
const nsdump::Runs &runs()
{
    static const nsdump::Runs kRuns{test_support::report_of(
        {test_support::slice_of("parse", 100, 2), test_support::slice_of("a", -1, 0)})};
    return kRuns;
}

void check(const nsdump::Rule &rule, size_t lines)
{
    if (rule.line == 0 || rule.line > lines || rule.text.empty() || rule.figure.empty() ||
        rule.divisor.size() > 1 || !std::isfinite(rule.limit))
        std::abort();
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size);
    const auto lines = size_t(std::count(text.begin(), text.end(), '\n')) + 1;
    const nsdump::RuleFile file = nsdump::parse_rules(text);
    for (const nsdump::Rule &rule : file.rules)
        check(rule, lines);
    for (const nsdump::RuleFault &fault : file.faults)
        if (fault.line == 0 || fault.line > lines || fault.column == 0 || fault.column > size + 1 ||
            fault.what.empty())
            std::abort();
    for (const nsdump::RuleFault &fault : nsdump::unknown_figures(file.rules, runs(), runs()))
        if (fault.line == 0 || fault.line > lines || fault.column == 0 || fault.column > size)
            std::abort();
    const auto results = nsdump::judge_rules(file.rules, runs(), runs(), {});
    if (results.size() < file.rules.size())
        std::abort();
    for (const nsdump::GateResult &result : results)
        if (result.fails == (result.status == nsdump::GateStatus::kHolds))
            if (result.status != nsdump::GateStatus::kUndecided)
                std::abort();
    const std::string junit = nsdump::gate_junit(results, "rules");
    for (const char byte : junit)
        if (static_cast<unsigned char>(byte) < 0x20 && byte != '\n')
            std::abort();
    nsdump::gate_text(results, false);
    nsdump::gate_markdown(results, "rules");
    return 0;
}
