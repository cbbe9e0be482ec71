// SPDX-License-Identifier: MIT
#include "report/report.hpp"

#include <nlohmann/json.hpp>

#include "analyse/correct/calibration.hpp"
#include "support/catch.hpp"

using namespace calibrate;

namespace
{
struct Made {
    Environment environment;
    Plan plan = make_plan(500, false, "");
    Run run;
    std::vector<Warning> warnings = {{"a warning", false}};

    Made()
    {
        environment.machine = {"x86_64", "tsc", "tsc", "Some CPU", "none", 1};
        environment.cpus = 4;
        run.facts.hz = 2e9;
        run.facts.step_ticks = 26;
        Results &results = run.results;
        results.clock_read("rdtsc").add({20, 0.2, 0, 50, 20});
        results.clock_read("rdtscp").add({30, 0.2, 0, 50, 20});
        ProbeRow &pair = results.probe("START+STOP", {"fast", "rseq", "step"});
        pair.inner.add({21, 0.1, 0, 50, 20});
        pair.outer.add({42, 0.2, 0, 50, 20});
        pair.inner_alone.add({30, 0.1, 0, 50, 20});
        pair.outer_alone.add({52, 0.2, 0, 50, 20});
        pair.counter_costs.push_back({"instructions", {}, {}});
        pair.counter_costs[0].inner.add({17, 0, 0, 1, 0});
        pair.counter_costs[0].outer.add({34, 0, 0, 1, 0});
        results.probe("MARK", {"fast", "rseq", "none"}).outer.add({22, 0.1, 0, 50, 20});
        RingRow &full = results.ring("full", {"fast", "rseq", "none"});
        full.ticks.add({28, 0.5, 0, 50, 20});
        full.issued = 1000;
        full.drained = 10;
        full.lost = 990;
        results.lacks("counters from rdpmc", "no PMU");
    }
    Report report() const { return {environment, plan, run, warnings}; }
};
} // namespace

TEST_CASE("nsdump reads from calibration.json the values that were measured", "[calibrate][report]")
{
    const Made made;
    const auto file = nsdump::parse_calibration(as_json(made.report()), "calibration.json");
    CHECK(file.context.cpu == "Some CPU");
    CHECK(file.clock.hz == 2e9);
    CHECK(file.clock.is_invariant);
    REQUIRE(file.clock_reads.size() == 2);
    CHECK(file.clock_reads[1].ns == Approx(15));
    REQUIRE(file.probes.size() == 2);
    CHECK(file.probes[0].macro == "START+STOP");
    CHECK(file.probes[0].counters == "step");
    CHECK(file.probes[0].inner_ticks == 21);
    CHECK(file.probes[0].outer_ticks == 42);
    CHECK(file.probes[0].inner_hidden_ticks == 9);
    CHECK(file.probes[0].outer_hidden_ticks == 10);
    CHECK_FALSE(file.probes[1].outer_hidden_ticks);
    CHECK(file.probes[0].inner_instructions == 17);
    CHECK(file.probes[0].outer_instructions == 34);
    CHECK_FALSE(file.probes[1].outer_instructions);
    CHECK(file.warnings == std::vector<std::string>{"a warning"});
}

TEST_CASE("the file also holds what nsdump does not need", "[calibrate][report]")
{
    Made made;
    const auto json = nlohmann::json::parse(as_json(made.report()));
    CHECK(json["context"]["governor"].is_null());
    CHECK(json["context"]["smt"].is_null());
    CHECK(json["rings"][0]["lost"] == 990);
    CHECK(json["rings"][0]["ratio_to_bare_read"].get<double>() == Approx(1.4));
    CHECK(json["unavailable"][0]["reason"] == "no PMU");
    CHECK(json["probes"][0]["counter_costs"][0]["outer"] == 34);
    CHECK(json["trusted"] == true);
    made.warnings.push_back({"worse", true});
    CHECK(nlohmann::json::parse(as_json(made.report()))["trusted"] == false);
}

TEST_CASE("the table has a line for each figure, missing figure and warning", "[calibrate][report]")
{
    Made made;
    made.warnings.push_back({"worse", true});
    const std::string text = as_text(made.report());
    CHECK(text.find("rdtscp                     30.00     0.20     15.00     1.50") !=
          std::string::npos);
    CHECK(text.find("inner: ticks that a slice reads in addition to its work; negative if") !=
          std::string::npos);
    CHECK(text.find("unavailable: counters from rdpmc: no PMU") != std::string::npos);
    CHECK(text.find("warning: a warning") != std::string::npos);
    CHECK(text.find("NOT TO BE TRUSTED: worse") != std::string::npos);
}
