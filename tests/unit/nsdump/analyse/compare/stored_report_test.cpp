// SPDX-License-Identifier: MIT
// JSON of a report -> the figures of the report itself, or why not.
#include "analyse/compare/stored_report.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "analyse/compare/compare.hpp"
#include "decode/error.hpp"
#include "export/export_support.hpp"
#include "export/exporter.hpp"

using namespace nsdump;

TEST_CASE("a stored report has the figures of the report", "[nsdump][compare]")
{
    const StatsReport report = test_support::report_of_slices(100);
    const StatsReport stored = parse_stored_report(stats_json(report), "stored.json");
    CHECK(stored.clock.hz == Approx(report.clock.hz));
    CHECK(stored.info == report.info);
    CHECK(stored.losses.lost_sum() == report.losses.lost_sum());
    CHECK(stored.calibration_start.size() == 1);
    const auto all = compare({report}, {stored}, {0, false});
    REQUIRE(all.size() == 1);
    CHECK(all[0].why.empty());
    CHECK(all[0].verdict == Verdict::kNoDifference);
    CHECK(all[0].difference.value == Approx(0).margin(1e-9));
    CHECK(all[0].second->half95() == Approx(all[0].first->half95()));
}

TEST_CASE("a stored report keeps losses, classes, packets and missing parts", "[nsdump][compare]")
{
    const StatsReport report = test_support::varied_report();
    const StatsReport stored = parse_stored_report(stats_json(report), "stored.json");
    CHECK(stored.losses.lost_sum() == 2);
    CHECK(stored.has_findings() == report.has_findings());
    REQUIRE(stored.slices.size() == report.slices.size());
    for (size_t i = 0; i < stored.slices.size(); ++i) {
        CHECK(stored.slices[i].migrated == report.slices[i].migrated);
        CHECK(stored.slices[i].is_incomplete == report.slices[i].is_incomplete);
        for (size_t field = 0; field < stored.slices[i].values.size(); ++field) {
            const auto &one = stored.slices[i].values[field].per_packet;
            const auto &other = report.slices[i].values[field].per_packet;
            REQUIRE(one.has_value() == other.has_value());
            if (one)
                CHECK(one->slices == Approx(other->slices));
        }
    }
}

TEST_CASE("the kernel's counters are those of the trace", "[nsdump][compare]")
{
    nsdump::StatsReport report = test_support::varied_report();
    report.kernel_counter_names = {"INSTRUCTIONS", "L1-DCACHE-MISSES"};
    CHECK(parse_stored_report(stats_json(report), "x.json").kernel_counter_names ==
          report.kernel_counter_names);
}

TEST_CASE("JSON that is no report is refused with the reason", "[nsdump][compare]")
{
    const auto refusal = [](const std::string &text) -> std::string {
        try {
            parse_stored_report(text, "x.json");
            return "accepted";
        } catch (const TraceError &error) {
            return error.what();
        }
    };
    CHECK(refusal("{").starts_with("x.json: not a report: invalid JSON at byte 2"));
    CHECK(refusal("{}").starts_with("x.json: schema is \"\", not"));
    CHECK(refusal("[1]").starts_with("x.json: not a report"));
    CHECK(refusal(R"({"schema": "netslice-stats-1"})").find("key 'info' not found") !=
          std::string::npos);
    std::string text = stats_json(test_support::varied_report());
    text.replace(text.find("\"count\": "), 9, "\"count\": null, \"x\": ");
    CHECK(refusal(text).find("wrong type") != std::string::npos);
    CHECK(refusal(std::string(100000, '[')).starts_with("x.json: not a report"));
}
