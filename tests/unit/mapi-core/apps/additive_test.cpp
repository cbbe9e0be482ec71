// SPDX-License-Identifier: MIT
// additive: constructed scenarios with known costs, and those that D3.4 printed in 2004.
#include "support/catch.hpp"

#include <algorithm>

#include "mapi_cost/model/additive.hpp"
#include "results_example.hpp"

using namespace mapi_cost;

namespace
{
// Costs of an additive program: each is recovered from the rows.
const std::map<Term, double> kTruth = {
    {Term::kBase, 1},     {Term::kCounter, 0.7},   {Term::kFilter, 41},  {Term::kSample, 18},
    {Term::kBuffer, 100}, {Term::kBufferByte, .1}, {Term::kSearch, 115}, {Term::kSearchByte, 0.24},
    {Term::kFlow, 2},     {Term::kKnownFlow, .2}};

Row row_of(const Scenario &scenario)
{
    Row row;
    row.scenario = scenario;
    row.bytes = {scenario.frame_bytes                     ? double(scenario.frame_bytes)
                 : scenario.traffic == Traffic::kMatching ? 900.0
                                                          : 400.0,
                 600.0};
    uint64_t packets = 1000;
    for (const Function function : scenario.functions) {
        row.reach.push_back({"", packets, packets});
        if (function == Function::kSearchText)
            packets = 750;
    }
    double net = 0;
    for (const auto &[term, times] :
         terms_of(scenario, {std::vector<double>(scenario.functions.size(), 1), row.bytes},
                  Engine::kThis))
        net += times * kTruth.at(term);
    if (packets == 750) // the buffer after the search saw a quarter less
        net -= 0.25 * (kTruth.at(Term::kBuffer) + 1500 * kTruth.at(Term::kBufferByte));
    row.cycles = Measured{net + 1, net, 0, 6400};
    return row;
}

std::vector<Row> rows_of(const std::vector<std::string> &ids = {})
{
    std::vector<Row> rows;
    for (const Scenario &scenario : all_scenarios())
        if (ids.empty() || std::count(ids.begin(), ids.end(), scenario.id) > 0)
            rows.push_back(row_of(scenario));
    return rows;
}

std::vector<std::string> missed(const AdditiveModel &model)
{
    std::vector<std::string> ids;
    for (const ModelRow &row : model.rows)
        if (row.verdict == Verdict::kMissed)
            ids.push_back(row.observed.scenario.id);
    return ids;
}

double cost(const AdditiveModel &model, Term term)
{
    REQUIRE(model.find(term));
    REQUIRE(model.find(term)->cost);
    return model.find(term)->cost->value;
}
} // namespace

TEST_CASE("the costs of an additive program are recovered, and each of its rows agrees",
          "[mapi_cost][additive]")
{
    const AdditiveModels models = additive_models(rows_of());

    CHECK_FALSE(models.instructions);
    REQUIRE(models.cycles);
    for (const auto &[term, truth] : kTruth)
        CHECK(cost(*models.cycles, term) == Approx(truth));
    CHECK(models.cycles->rows.size() == 19);
    CHECK(models.cycles->spare == 9);
    CHECK(models.cycles->does_hold);
    CHECK(missed(*models.cycles).empty());
}

TEST_CASE("a scenario that costs more than its functions is missed by the excess, no term changes",
          "[mapi_cost][additive]")
{
    auto rows = rows_of();
    for (Row &row : rows)
        if (row.scenario.id == "five")
            row.cycles->net += 120;
    const AdditiveModel model = additive_models(rows).cycles.value();

    CHECK(missed(model) == std::vector<std::string>{"five"});
    CHECK(model.find("five")->residual == Approx(120));
    CHECK_FALSE(model.find("five")->is_in_fit);
    for (const auto &[term, truth] : kTruth)
        CHECK(cost(model, term) == Approx(truth));
}

TEST_CASE("an interval of zero counts as a hundredth of the cost, or a twentieth of a unit",
          "[mapi_cost][additive]")
{
    auto rows = rows_of({"none", "filter", "filter+buffer"});
    rows[2].cycles->ci95 = 30;
    const AdditiveModel model = additive_models(rows).cycles.value();

    CHECK(model.find("none")->error == Approx(0.05));
    CHECK(model.find("filter")->error == Approx(0.42));
    CHECK(model.find("filter+buffer")->error == Approx(30));
}

TEST_CASE("terms that the scenarios cannot separate have no value, the others have theirs",
          "[mapi_cost][additive]")
{
    const AdditiveModel model =
        additive_models(rows_of({"none", "filter", "filter+buffer", "more-filter-same"}))
            .cycles.value();

    CHECK(cost(model, Term::kBase) == Approx(1));
    CHECK(cost(model, Term::kFilter) == Approx(41));
    CHECK(cost(model, Term::kKnownFlow) == Approx(0.2));
    REQUIRE(model.find(Term::kBuffer));
    CHECK_FALSE(model.find(Term::kBuffer)->cost);
    CHECK_FALSE(model.find(Term::kBufferByte)->cost);
    CHECK_FALSE(model.find(Term::kSample)); // no scenario has it
    for (const ModelRow &row : model.rows)
        CHECK(row.verdict == Verdict::kUntested);
}

TEST_CASE("calls and rows without figures are in no model", "[mapi_cost][additive]")
{
    CHECK_FALSE(additive_models(rows_of({"results", "next-packet"})).cycles);
    CHECK_FALSE(additive_models({}).cycles);
}

TEST_CASE("a row without an interval is in no model, and is named", "[mapi_cost][additive]")
{
    auto rows = rows_of();
    for (Row &row : rows)
        if (row.scenario.id == "five") {
            row.cycles->net += 120;
            row.cycles->ci95 = std::nullopt;
        }
    const AdditiveModel model = additive_models(rows).cycles.value();

    CHECK(model.without_interval == std::vector<std::string>{"five"});
    CHECK_FALSE(model.find("five"));
    CHECK(missed(model).empty());
}

TEST_CASE("a search whose end is not known is named and left out", "[mapi_cost][additive]")
{
    auto rows = rows_of();
    for (Row &row : rows)
        row.bytes.searched.reset();
    const AdditiveModel model = additive_models(rows).cycles.value();

    CHECK(model.unused == std::vector<std::string>{"five"});
    CHECK(model.rows.size() == 18);
}

TEST_CASE("the instructions of 2004 give the terms that its tables imply", "[mapi_cost][additive]")
{
    const AdditiveModel &scampi = additive_model_2004(Card::kScampi);
    const AdditiveModel &intel = additive_model_2004(Card::kIntel);

    const auto check = [](const AdditiveModel &model, Term term, double published, double margin) {
        CAPTURE(term_id(term));
        CHECK(cost(model, term) == Approx(published).margin(margin));
    };
    for (const auto &[term, published] : std::map<Term, double>{{Term::kBase, 56},
                                                                {Term::kFlow, 21},
                                                                {Term::kCounter, 0},
                                                                {Term::kFilter, 280},
                                                                {Term::kSample, 58},
                                                                {Term::kBuffer, 216},
                                                                {Term::kKnownFilter, 86},
                                                                {Term::kKnownSearch, 95}})
        check(scampi, term, published, 1);
    for (const auto &[term, published] : std::map<Term, double>{{Term::kBase, 53},
                                                                {Term::kFlow, 21},
                                                                {Term::kCounter, 53},
                                                                {Term::kFilter, 172},
                                                                {Term::kSample, 58},
                                                                {Term::kBuffer, 7998},
                                                                {Term::kKnownFilter, 82},
                                                                {Term::kKnownSearch, 96}})
        check(intel, term, published, 3);
    for (const AdditiveModel *model : {&scampi, &intel}) {
        check(*model, Term::kSearch, 316, 20); // "about"
        check(*model, Term::kSearchByte, 11.9, 0.1);
    }
}

TEST_CASE("the model misses rows of 2004 whose figures do not fit their labels",
          "[mapi_cost][additive]")
{
    const AdditiveModel &scampi = additive_model_2004(Card::kScampi);
    const AdditiveModel &intel = additive_model_2004(Card::kIntel);

    // A further flow with another filter cost less than the filter by itself: 274 after 280.
    CHECK(missed(scampi) == std::vector<std::string>{"more-filter-different"});
    CHECK(scampi.does_hold);
    // Without SAMPLE_PACKETS and STR_SEARCH; and 4295 for a search that by itself took 18134.
    CHECK(missed(intel) == std::vector<std::string>{"five", "more-search-different"});
    CHECK(intel.does_hold);
    CHECK(scampi.find("filter+buffer")->residual == Approx(0).margin(0.5));
    CHECK(scampi.find("five")->verdict == Verdict::kAgrees);
}
