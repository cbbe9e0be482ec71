// SPDX-License-Identifier: MIT
#include "analyse/compare/figure_names.hpp"

#include <string>

#include "made_up_report.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;

namespace
{
// What is wrong with the figure, with its column.
std::string fault_of(const std::string &rule)
{
    const nsdump::Runs runs{test_support::report_of({test_support::slice_of("parse", 100, 2)})};
    const nsdump::RuleFile file = nsdump::parse_rules(rule);
    REQUIRE(file.rules.size() == 1);
    const auto faults = nsdump::unknown_figures(file.rules, runs, {});
    return faults.empty() ? "" : std::to_string(faults.at(0).column) + ": " + faults.at(0).what;
}
} // namespace

TEST_CASE("a figure that no trace has and no machine counts is refused with those that there are",
          "[nsdump][rules]")
{
    CHECK_THAT(fault_of("parse: net_nss <= 1"), Contains("8: unknown figure net_nss") &&
                                                    Contains("net_ns, raw_ns") &&
                                                    Contains("lost") && Contains("INSTRUCTIONS"));
    for (const char *figure : {"time", "cylces", "raw_time", "p99", "net_", "totals"})
        CHECK(fault_of(std::string("parse: ") + figure + " <= 1") != "");
}

TEST_CASE("figures of every trace, counters of these and of other machines are known",
          "[nsdump][rules]")
{
    for (const char *figure : {"ns", "net_ns", "raw_ns", "count", "instructions",
                               "net_instructions", "raw_instructions", "cycles", "branch-misses",
                               "page-faults", "perf::cycles", "papi_tot_ins", "l1d.replacement"})
        CHECK(fault_of(std::string("parse: ") + figure + " <= 1") == "");
    CHECK(fault_of("*: lost == 0") == "");
}
