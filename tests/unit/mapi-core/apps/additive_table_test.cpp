// SPDX-License-Identifier: MIT
// additive_table: the model as text and columns.
#include "support/catch.hpp"

#include <algorithm>

#include "mapi_cost/output/text.hpp"
#include "results_example.hpp"

using namespace mapi_cost;

namespace
{
Observation observed(const std::string &id, TermCounts terms, double value)
{
    return {test_support::example_row(id).scenario, std::move(terms), value, 0.1};
}

Results results_with(const std::vector<Observation> &observations)
{
    Results results = test_support::example_results();
    results.rows.clear();
    for (const Observation &one : observations)
        results.rows.push_back(test_support::example_row(one.scenario.id));
    results.models.cycles = additive_model(observations, kLeastError);
    return results;
}

// Ignores line breaks.
bool has(std::string text, const std::string &words)
{
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.find(words) != std::string::npos;
}

const std::vector<Observation> kRows = {
    observed("none", {{Term::kBase, 1}}, 2),
    observed("filter", {{Term::kBase, 1}, {Term::kFilter, 1}}, 12),
    observed("sample", {{Term::kBase, 1}, {Term::kSample, 1}}, 8),
    observed("filter+buffer", {{Term::kBase, 1}, {Term::kFilter, 1}, {Term::kSample, 1}}, 18)};
} // namespace

TEST_CASE("scenarios that follow the model are reported as such", "[mapi_cost][additive_table]")
{
    const std::string text = additive_text(results_with(kRows));

    CHECK(has(
        text,
        "TSC cycles: each of the 4 scenarios that others test is within its error of the model."));
    CHECK(has(text, "base: a packet, no function"));
    CHECK_FALSE(has(text, "MISSED"));
    CHECK_FALSE(has(text, "Instructions:"));
}

TEST_CASE("a scenario that the model misses is marked in its line and named with the difference",
          "[mapi_cost][additive_table]")
{
    auto rows = kRows;
    rows[3].value = 30;
    const std::string text = additive_text(results_with(rows));

    CHECK(has(text, "MISSED"));
    CHECK(has(text, "the model misses by more than the error: BPF_FILTER + TO_BUFFER (12.0 ± 0.4: "
                    "possibly the effect of the functions"));
}

TEST_CASE("terms that are not determined are named and have a dash as cost",
          "[mapi_cost][additive_table]")
{
    const std::string text = additive_text(results_with({kRows[0], kRows[3]}));

    CHECK(has(text, "nothing tests the model"));
    CHECK(has(text, "Not determined (run more scenarios): BPF_FILTER; SAMPLE_PACKETS."));
    CHECK(has(text, "BPF_FILTER                          |               -"));
}

TEST_CASE("scenarios without an interval are named with the reason why they are not in the model",
          "[mapi_cost][additive_table]")
{
    Results results = results_with(kRows);
    results.models.cycles->without_interval = {"five"};

    CHECK(
        has(additive_text(results), "Not in the model, because their cost has no interval: five."));
}

TEST_CASE("without a row in a model there is no text about it", "[mapi_cost][additive_table]")
{
    CHECK(additive_text(test_support::example_results()).empty());
}
