// SPDX-License-Identifier: MIT
#include "analyse/correct/calibration.hpp"

#include "decode/error.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;

TEST_CASE("a calibration is unchanged after being written and read", "[nsdump][calibration]")
{
    nsdump::CalibrationFile file;
    file.context = {"0.1", "CPU \"x\"", "x86_64",     "6.1", "performance",
                    "kvm", "gcc 12",    "2026-01-01", 2};
    file.clock = {"tsc", 2.596e9, 26, true};
    file.clock_reads.push_back({"rdtsc", 22.5, 8.7, 0.1});
    file.probes.push_back(
        {"START+STOP", "fast", "rseq", "none", 23.1, 0.2, 46.3, 0.4, {}, {}, 1000, 3});
    file.probes.push_back({"MARK", "fast", "rseq", "step", 0, 0, 24, 0.4, 0.0, 11.0, 1000, 3});
    file.probes[0].inner_hidden_ticks = 7;
    file.probes[0].outer_hidden_ticks = 9;
    file.warnings = {"frequency changed"};

    const auto back = nsdump::parse_calibration(nsdump::to_json(file), "c.json");

    CHECK(back.context.version == "0.1");
    CHECK(back.context.cpu == file.context.cpu);
    CHECK(back.context.cpus == 2);
    CHECK(back.clock.hz == 2.596e9);
    CHECK(back.clock.is_invariant);
    CHECK(back.clock_reads.at(0).ci95_ns == 0.1);
    REQUIRE(back.probes.size() == 2);
    CHECK(back.probes[0].inner_ticks == 23.1);
    CHECK(back.probes[0].outer_ci95 == 0.4);
    CHECK(back.probes[0].inner_hidden_ticks == 7);
    CHECK(back.probes[0].outer_hidden_ticks == 9);
    CHECK_FALSE(back.probes[0].outer_instructions);
    CHECK(back.probes[1].outer_instructions == 11.0);
    CHECK(back.warnings == file.warnings);
    CHECK(nsdump::to_json(back) == nsdump::to_json(file));
}

TEST_CASE("a file that is not a calibration is refused with its name", "[nsdump][calibration]")
{
    for (const char *text :
         {"", "{", "[]", "{}", R"({"schema":"netslice-stats-1"})",
          R"({"schema":"netslice-calibration-1"})",
          R"({"schema":"netslice-calibration-1","clock":{},"probes":[{"macro":"MARK"}]})",
          R"({"schema":"netslice-calibration-1","clock":{},"probes":[7]})",
          R"({"schema":"netslice-calibration-1","clock":[],"probes":[]})"}) {
        INFO(text);
        CHECK_THROWS_AS(nsdump::parse_calibration(text, "c.json"), nsdump::TraceError);
        CHECK_THROWS_WITH(nsdump::parse_calibration(text, "c.json"),
                          Contains("c.json") && Contains("nscalibrate"));
    }
    CHECK_THROWS_WITH(nsdump::read_calibration("/nowhere/c.json"), Contains("/nowhere/c.json"));
}

TEST_CASE("a calibration with implausible figures is refused", "[nsdump][calibration]")
{
    const auto text = [](const std::string &figures) {
        return R"({"schema":"netslice-calibration-1","clock":{"hz":1e9},)"
               R"("probes":[{"macro":"START+STOP",)" +
               figures + "}]}";
    };
    CHECK_NOTHROW(nsdump::parse_calibration(
        text(R"("inner_ticks":20,"outer_ticks":40,"outer_ci95":1)"), "c.json"));
    for (const char *figures :
         {R"("outer_ticks":40)", R"("inner_ticks":"20","outer_ticks":40)",
          R"("inner_ticks":20,"outer_ticks":-2)", R"("inner_ticks":20,"outer_ticks":1e14)",
          R"("inner_ticks":20,"outer_ticks":40,"outer_ci95":-5)",
          R"("inner_ticks":20,"outer_ticks":40,"inner_ci95":1e300)",
          R"("inner_ticks":20,"outer_ticks":40,
             "counter_costs":[{"counter":"instructions","inner":1,"outer":-9e200}])"}) {
        INFO(figures);
        CHECK_THROWS_WITH(nsdump::parse_calibration(text(figures), "c.json"),
                          Contains("c.json") && Contains("nscalibrate"));
    }
}
