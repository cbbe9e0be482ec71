// SPDX-License-Identifier: MIT
#include "export/thinning.hpp"

#include "export/export_support.hpp"
#include "export/exporter.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;

namespace
{
nsdump::StatsReport thinned_report()
{
    auto report = test_support::varied_report();
    nsdump::SliceThinning thinning;
    thinning.net = nsdump::Measured{66, 2};
    thinning.calibrated = nsdump::Measured{70, 3};
    thinning.combined = nsdump::Measured{67.23, 1.66};
    thinning.used = nsdump::NetSource::kBoth;
    thinning.epochs = 12;
    thinning.slices = 340;
    thinning.inner = {20, 0.5};
    thinning.costs = {{"in\x1b", "pair", 2, nsdump::Measured{35, 4}, {40, 1}},
                      {"rare", "mark", 0.01, std::nullopt, {10, 1}}};
    thinning.cells = {{{"in", "rare"}, 340, 12, 91, {90, 1.5}}, {{}, 900, 40, 160, {155, 1}}};
    report.slices[0].thinning = thinning;
    report.thinning = nsdump::ThinningReport{};
    report.thinning->epochs = 50;
    report.thinning->slices = 1240;
    report.thinning->left_out[size_t(nsdump::LeftOut::kMigrated)] = 3;
    report.thinning->units = {
        {"batch", {100, 1}, {110, 1}, {1e7, 1e5}, {9e6, 1e5}, {0.1, 0.014}, 25, 12}};
    return report;
}
} // namespace

TEST_CASE("the text has a line for each slice with random thinning, and for units",
          "[nsdump][text][thinning]")
{
    const std::string text = nsdump::stats_text(thinned_report());
    CHECK_THAT(text, Contains("thinning  50 epochs, 1240 slices used, migrated 3"));
    CHECK_THAT(text, Contains("66.00 ± 2.00 ticks by thinning (12 epochs), 70.00 ± 3.00 by "
                              "calibration; used: both"));
    CHECK_THAT(text, Contains("the probes cost 10.00 ± 1.40 %"));
    CHECK_THAT(text, !Contains("counts are those"));
    CHECK_THAT(nsdump::stats_text(test_support::varied_report()), !Contains("thinning"));

    auto counted = thinned_report();
    counted.thinning->all_on = 700;
    counted.thinning->not_all_on = 1;
    CHECK_THAT(nsdump::stats_text(counted),
               Contains("counts are those of 700 slices with all probes on; 1 other is left out"));
    counted.thinning->all_on = 0;
    counted.thinning->not_all_on = 540;
    CHECK_THAT(
        nsdump::stats_text(counted),
        Contains("counts are those of 0 slices with all probes on; 540 others are left out"));

    auto refused = thinned_report();
    refused.thinning->reason = "epochs of process 1 overlap";
    CHECK_THAT(nsdump::stats_text(refused),
               Contains("nothing is estimated: epochs of process 1 overlap") &&
                   !Contains("by thinning"));
}

TEST_CASE("a slice is explained by its probes and cells", "[nsdump][text][thinning]")
{
    const auto report = thinned_report();
    const std::string text = nsdump::explain_text(report.slices[0]);
    CHECK_THAT(text, Contains("own reads   20.00 ± 0.50 by calibration"));
    CHECK_THAT(text, Contains("2.00 x in\\x1b (pair): 35.00 ± 4.00 by thinning, 40.00 ± 1.00 by"));
    CHECK_THAT(text, Contains("0.01 x rare (mark): none by thinning"));
    CHECK_THAT(text, Contains("thinned     66.00 ± 2.00"));
    CHECK_THAT(text, Contains("still there 4.01 probes that are off"));
    CHECK_THAT(text, Contains("net         67.23 ± 1.66: used: both; they differ by -4.00"));
    CHECK_THAT(text, Contains("off: in, rare: 12 epochs, 340 slices, raw 90.00 ± 1.50"));
    CHECK_THAT(text, Contains("off: nothing: 40 epochs"));
}

TEST_CASE("JSON has the results of random thinning only if there are epochs",
          "[nsdump][json][thinning]")
{
    using nlohmann::json;
    const json out = json::parse(nsdump::stats_json(thinned_report()));
    const json &slice = out["slices"][0]["thinning"];
    CHECK(slice["net"] == 66);
    CHECK(slice["ci95"] == 2);
    CHECK(slice["calibrated"] == 70);
    CHECK(slice["calibrated_ci95"] == 3);
    CHECK(slice["used"] == "both");
    CHECK(slice["epochs"] == 12);
    CHECK(slice["slices"] == 340);
    CHECK(slice["costs"][0]["per_record"] == 35);
    CHECK(slice["costs"][1]["per_record"].is_null());
    CHECK(out["slices"][1]["thinning"].is_null());
    CHECK(out["thinning"]["epochs"] == 50);
    CHECK(out["thinning"]["left_out"]["migrated"] == 3);
    CHECK(out["thinning"]["units"][0]["cost"] == 0.1);
    const json plain = json::parse(nsdump::stats_json(test_support::varied_report()));
    CHECK_FALSE(plain.contains("thinning"));
    CHECK_FALSE(plain["slices"][0].contains("thinning"));

    const json explained = json::parse(nsdump::explain_json(thinned_report().slices[0]));
    CHECK(explained["schema"] == "netslice-explain-1");
    CHECK(explained["net"] == 67.23);
    CHECK(explained["probes_off"] == 4.01);
    CHECK(explained["own_reads"]["from"] == "calibration");
    CHECK(explained["inside"][0]["calibrated"] == 40);
    CHECK(explained["cells"][0]["off"] == json::array({"in", "rare"}));
}

TEST_CASE("epochs of BPF programs have a part of their own", "[nsdump][text][json][thinning]")
{
    auto report = thinned_report();
    report.slices[0].is_kernel = true;
    report.program_thinning = std::move(report.thinning);
    report.thinning.reset();
    const std::string text = nsdump::stats_text(report);
    CHECK_THAT(text, Contains("thinning  of BPF programs: 50 epochs") &&
                         Contains("66.00 ± 2.00 ticks by thinning"));
    const auto out = nlohmann::json::parse(nsdump::stats_json(report));
    CHECK_FALSE(out.contains("thinning"));
    CHECK(out["program_thinning"]["epochs"] == 50);
    CHECK(out["slices"][0]["thinning"]["net"] == 66);
}
