// SPDX-License-Identifier: MIT
#include "export/exporter.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

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
    CHECK_THAT(rows[4], Catch::Matchers::EndsWith(",0,3,0,0,0,,,0,0,0,0,0,0,0,0,,,,,"));
}

namespace
{
// Column -> text, of the first row.
std::map<std::string, std::string> first_row(const std::string &csv)
{
    std::istringstream lines(csv);
    std::string names, cells;
    std::getline(lines, names);
    std::getline(lines, cells);
    std::istringstream name_stream(names), cell_stream(cells);
    std::map<std::string, std::string> row;
    for (std::string name, cell; std::getline(name_stream, name, ',');) {
        std::getline(cell_stream, cell, ',');
        row[name] = cell;
    }
    return row;
}
} // namespace

TEST_CASE("a percentile that the slices do not determine is an empty cell", "[nsdump][csv]")
{
    auto row = first_row(nsdump::stats_csv(test_support::report_of_slices(20)));
    CHECK(row["net_p50"] == "89");
    CHECK(row["net_p90"] == "97");
    CHECK(row["net_p99"].empty());
    CHECK(row["raw_p999"].empty());
    CHECK(row["net_max"] == "99");
    CHECK(row["net_total"] == "1790");
}

TEST_CASE("the trimmed means are in the last columns", "[nsdump][csv]")
{
    auto row = first_row(nsdump::stats_csv(test_support::report_of_slices(20)));
    CHECK(std::stod(row["raw_trimmed_mean"]) == Approx(109.5));
    CHECK(std::stod(row["net_trimmed_mean"]) == Approx(89.5));
    CHECK_FALSE(row["net_trimmed_ci95"].empty());
    CHECK(row["per_packet_net_trimmed"].empty()); // no units
}
