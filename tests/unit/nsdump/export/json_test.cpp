// SPDX-License-Identifier: MIT
#include "export/exporter.hpp"

#include <nlohmann/json.hpp>

#include "export/export_support.hpp"
#include "support/catch.hpp"

using nlohmann::json;

TEST_CASE("the JSON of a report has every member of its schema", "[nsdump][json]")
{
    const json out = json::parse(nsdump::stats_json(test_support::varied_report()));
    CHECK(out["schema"] == "netslice-stats-1");
    CHECK(out["trace"]["path"] == "varied.nsl");
    CHECK(out["trace"]["end"] == "closed");
    CHECK(out["info"]["clock.mode"] == "fast");
    CHECK(out["clock"]["hz"] == 1e9);
    CHECK(out["clock"]["step_ticks"] == 26.0);
    CHECK(out["counters"] == json{{"source", "perf-read"}, {"names", {"INSTRUCTIONS"}}});
    CHECK(out["losses"]["lost"]["full"] == 2);
    CHECK(out["losses"]["equation_holds"] == true);
    CHECK(out["losses"]["by_cpu"].size() == 2);
    CHECK(out["calibration"]["start"][0]["cpu"] == "any");
    CHECK(out["calibration"]["start"][0]["kind"] == "START");
    CHECK(out["calibration"]["drift"][0]["significant"] == false);
    CHECK(out["units"][0] == json{{"name", "batch"},
                                  {"kernel", false},
                                  {"units", 1},
                                  {"packets", 64},
                                  {"bytes", 4096},
                                  {"incomplete", false}});
    CHECK(out["marks"][0]["mean"] == 5.0);
    CHECK(out["classes"]["migrated"] == 1);
    CHECK(out["classes"]["below_noise"] == 1);
    CHECK(out["classes"]["unmatched_stop"] == 1);
}

TEST_CASE("a slice's values are ticks and the counters that it has", "[nsdump][json]")
{
    const json out = json::parse(nsdump::stats_json(test_support::varied_report()));
    const json &rx = out["slices"][0];
    CHECK(rx["name"] == "rx,\"1\"");
    CHECK(rx["file"] == "net.c");
    CHECK(rx["line"] == 42);
    CHECK(rx["packets"] == 64);
    REQUIRE(rx["values"].size() == 2);
    CHECK(rx["values"][0]["unit"] == "TSC cycles");
    CHECK(rx["values"][0]["raw"]["mean"] == 100.0);
    CHECK(rx["values"][0]["net"]["mean"] == 70.0);
    CHECK(rx["values"][0]["net"]["ci95"].is_null()); // of one slice
    CHECK(rx["values"][0]["per_packet"]["net"] == 70.0 / 64);
    CHECK(rx["values"][0]["histogram"] == json::array({json::array({70.0, 71.0, 1})}));
    CHECK(rx["values"][1]["field"] == "INSTRUCTIONS");
    CHECK(rx["values"][1]["net"]["mean"] == 100.0);
    const json &tx = out["slices"][1];
    REQUIRE(tx["values"].size() == 1);
    CHECK(tx["values"][0]["per_packet"].is_null());
    CHECK(tx["values"][0]["net"]["mean"] == -5.0);
    CHECK(tx["migrated"] == 1);
}

TEST_CASE("a percentile is null if fewer than 1 / (1 - q) values determine it", "[nsdump][json]")
{
    const auto percentiles_of = [](unsigned count) {
        const json out = json::parse(nsdump::stats_json(test_support::report_of_slices(count)));
        const json &value = out["slices"][0]["values"][0];
        std::string known;
        for (const char *name : {"p50", "p90", "p99", "p999"}) {
            CHECK(value["raw"].at(name).is_null() == value["net"].at(name).is_null());
            known += value["net"].at(name).is_null() ? "" : std::string(" ") + name;
        }
        return known;
    };
    CHECK(percentiles_of(1) == "");
    CHECK(percentiles_of(2) == " p50");
    CHECK(percentiles_of(9) == " p50");
    CHECK(percentiles_of(10) == " p50 p90");
    CHECK(percentiles_of(99) == " p50 p90");
    CHECK(percentiles_of(100) == " p50 p90 p99");
    CHECK(percentiles_of(999) == " p50 p90 p99");
    CHECK(percentiles_of(1000) == " p50 p90 p99 p999");
}

TEST_CASE("without footer and calibration, unknown values are null or absent, never zero",
          "[nsdump][json]")
{
    test_support::TraceBuilder trace;
    const auto rx = trace.site("rx");
    trace.start(0, 1, rx, 1);
    trace.stop(0, 1, rx, 3);
    nsdump::TraceFile file(test_support::source_of(trace.bytes()));
    const json out = json::parse(nsdump::stats_json(nsdump::analyse_trace(file)));
    CHECK(out["trace"]["end"] == "missing");
    CHECK(out["losses"]["equation_holds"].is_null());
    CHECK(out["losses"]["issued"].is_null());
    CHECK_FALSE(out["losses"]["lost"].contains("full"));
    CHECK(out["clock"]["hz"].is_null());
    CHECK(out["clock"]["step_ticks"].is_null());
    CHECK(out["slices"][0]["values"][0]["net"].is_null());
    CHECK(out["slices"][0]["values"][0]["self"].is_null());
}
