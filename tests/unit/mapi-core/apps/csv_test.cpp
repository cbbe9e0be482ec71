// SPDX-License-Identifier: MIT
// csv: a header and a line for each row, all with the same number of fields.
#include "support/catch.hpp"

#include <algorithm>
#include <sstream>

#include "mapi_cost/output/text.hpp"
#include "results_example.hpp"

namespace
{
size_t fields_of(const std::string &line)
{
    bool is_quoted = false;
    size_t commas = 0;
    for (const char letter : line) {
        is_quoted ^= letter == '"';
        commas += letter == ',' && !is_quoted;
    }
    return commas + 1;
}
} // namespace

TEST_CASE("every line of the CSV has the fields of its header", "[mapi_cost][csv]")
{
    auto results = test_support::example_results();
    results.rows.push_back(test_support::example_row("more-filter-same")); // its name has a comma
    results.models.cycles =
        mapi_cost::additive_model({{results.rows[0].scenario,
                                    {{mapi_cost::Term::kBase, 1}, {mapi_cost::Term::kFilter, 1}},
                                    10,
                                    1}},
                                  1);
    std::istringstream text(mapi_cost::csv_text(results));
    std::string header;
    std::getline(text, header);
    size_t lines = 0;
    for (std::string line; std::getline(text, line); ++lines)
        CHECK(fields_of(line) == fields_of(header));
    CHECK(lines == 6); // two terms
}

TEST_CASE("a live row ends with packets and drops of both passes", "[mapi_cost][csv]")
{
    const std::string text = mapi_cost::csv_text(test_support::live_example());

    CHECK(text.find(",driver_read_tsc_cycles,timed_seconds,timed_packets,timed_packets_per_batch,"
                    "timed_drop_kernel,") != std::string::npos);
    CHECK(text.find(",30,2.000000,1000,20,7,0,3,0,0,2.500000,900,10,120,0,0,0,0\n") !=
          std::string::npos);
    std::istringstream lines(text);
    std::string header, row;
    std::getline(lines, header);
    std::getline(lines, row);
    CHECK(fields_of(row) == fields_of(header));
}

TEST_CASE("a count that was not taken is an empty field", "[mapi_cost][csv]")
{
    const std::string text = mapi_cost::csv_text(test_support::example_results());

    CHECK(
        text.find(
            "2,filter,\"BPF_FILTER\",,,,,,12.500000,10.250000,0.500000,6400,601,2000,490,2800,") !=
        std::string::npos);
}

TEST_CASE("an unknown interval is an empty field", "[mapi_cost][csv]")
{
    auto results = test_support::example_results();
    results.rows[0].cycles->ci95 = std::nullopt;

    CHECK(mapi_cost::csv_text(results).find(
              "2,filter,\"BPF_FILTER\",,,,,,12.500000,10.250000,,6400,601,2000,490,2800,") !=
          std::string::npos);
}
