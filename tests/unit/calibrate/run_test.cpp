// SPDX-License-Identifier: MIT
#include "run.hpp"

#include "support/catch.hpp"

using namespace calibrate;

TEST_CASE("the requested batches are spread over passes, never fewer than requested",
          "[calibrate][run]")
{
    for (const uint32_t batches : {50u, 500u, 777u, 9999u, 100001u, 1000000u})
        for (const bool is_thorough : {false, true}) {
            const Plan plan = make_plan(batches, is_thorough, "");
            CHECK(plan.passes * plan.batches_per_pass >= batches);
            CHECK(plan.batches_per_pass <= 1000); // the maximum of nsp_calibrate()
            CHECK(plan.stepping_passes <= plan.passes);
        }
}

TEST_CASE("counters that the user named are required, the default ones are not", "[calibrate][run]")
{
    CHECK_FALSE(make_plan(0, false, "").must_have_counters);
    CHECK(make_plan(0, false, "").counters == "instructions");
    CHECK(make_plan(0, false, "cycles").must_have_counters);
    CHECK(make_plan(0, false, "cycles").counters == "cycles");
}

TEST_CASE("the worst figure and the number of wide figures are found", "[calibrate][run]")
{
    Results results;
    for (const double mean : {20.0, 20.1, 20.2}) {
        results.clock_read("rdtsc").add({mean, 0.1, 0, 50, 20});
        results.probe("MARK", {}).outer.add({mean * mean, 0.1, 0, 50, 20});
        results.ring("room", {"fast", "rseq", "none"})
            .ticks.add({mean < 20.15 ? mean : 30, 0.1, 0, 50, 20});
        results.ring("off", {}).ticks.add({mean < 20.15 ? 0.1 : 0.9, 0.1, 0, 50, 20});
    }
    RunFacts facts;
    note_spreads(results, facts);
    CHECK(facts.worst_figure == "ring room rseq");
    CHECK(facts.wide_figures ==
          1); // `off` is a fraction of a nanosecond, so its relative spread does not count
}

TEST_CASE("stepped counts that differ between passes are detected", "[calibrate][run]")
{
    Results results;
    ProbeRow &row = results.probe("START+STOP", {"fast", "rseq", "step"});
    row.counter_costs.push_back({"instructions", {}, {}});
    for (int pass = 0; pass < 3; ++pass) {
        row.counter_costs[0].inner.add({17, 0, 0, 1, 0});
        row.counter_costs[0].outer.add({34, 0, 0, 1, 0});
    }
    RunFacts facts;
    note_spreads(results, facts);
    CHECK(facts.is_counting_exact);
    CHECK(facts.has_step_counter);
    CHECK_FALSE(facts.has_pmu_counters);

    row.counter_costs[0].outer.add({35, 0, 0, 1, 0});
    note_spreads(results, facts);
    CHECK_FALSE(facts.is_counting_exact);
}

TEST_CASE("one ring case that violates the loss equation is enough", "[calibrate][run]")
{
    Results results;
    results.ring("room", {});
    results.ring("full", {}).has_loss_equation = false;
    results.ring("overwrite", {});
    RunFacts facts;
    note_spreads(results, facts);
    CHECK_FALSE(facts.has_loss_equation);
}

TEST_CASE("each missing item is reported once", "[calibrate][run]")
{
    Results results;
    results.lacks("counters from rdpmc", "no PMU");
    results.lacks("counters from rdpmc", "no PMU, again");
    REQUIRE(results.unavailable.size() == 1);
    CHECK(results.unavailable[0].reason == "no PMU");
}

TEST_CASE("the bare read is the first of the clock variants, and all have distinct names",
          "[calibrate][run]")
{
    const auto variants = clock_variants();
    REQUIRE_FALSE(variants.empty());
    CHECK_FALSE(variants.front().lacks);
    for (size_t i = 1; i < variants.size(); ++i)
        CHECK(std::string(variants[i].name) != variants[i - 1].name);
}
