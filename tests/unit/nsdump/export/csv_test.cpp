// SPDX-License-Identifier: MIT
#include "export/exporter.hpp"

#include <algorithm>
#include <sstream>

#include "export/export_support.hpp"
#include "support/catch.hpp"

TEST_CASE("statistics as CSV: one row for each slice and field, all with the same columns",
          "[nsdump][csv]")
{
    auto report = test_support::varied_report();
    report.slices[0].name = "rx";
    nsdump::SliceReport unpaired;
    unpaired.name = "lonely";
    unpaired.unmatched_stop = 3;
    report.slices.push_back(unpaired);
    std::istringstream lines(nsdump::stats_csv(report));
    std::vector<std::string> rows;
    for (std::string line; std::getline(lines, line);)
        rows.push_back(line);
    REQUIRE(rows.size() == 5);
    const auto commas = std::count(rows[0].begin(), rows[0].end(), ',');
    for (const std::string &row : rows)
        CHECK(std::count(row.begin(), row.end(), ',') == commas);
    CHECK(rows[1].rfind("rx,net.c,42,ticks,TSC cycles,1,64,100,", 0) == 0);
    CHECK(rows[2].rfind("rx,net.c,42,INSTRUCTIONS,instructions,1,64,105,", 0) == 0);
    CHECK(rows[4].rfind("lonely,,0,ticks,,0,0,,", 0) == 0);
    CHECK_THAT(rows[4], Catch::Matchers::EndsWith(",0,3,0,0,0,,,0,0,0,0,0,0,0,0"));
}
