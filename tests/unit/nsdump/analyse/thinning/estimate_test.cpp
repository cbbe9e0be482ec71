// SPDX-License-Identifier: MIT
// Scripted traces with epochs -> the report.
#include <array>

#include "analyse/analyse.hpp"
#include "support/catch.hpp"
#include "thinning/scripted_program.hpp"

using Catch::Matchers::Contains;
using namespace test_support;

TEST_CASE("with known work and costs, thinning gives both", "[nsdump][thinning]")
{
    Program program;
    for (int i = 0; i < 40; ++i) {
        program.begin_epoch(i % 4 == 0   ? std::vector{program.inner, program.other}
                            : i % 4 == 1 ? std::vector{program.inner}
                            : i % 4 == 2 ? std::vector{program.other}
                                         : std::vector<uint16_t>{});
        for (int j = 0; j < 20; ++j)
            program.run({program.inner, program.inner, program.other});
    }
    const auto report = program.report();
    REQUIRE(report.thinning);
    CHECK(report.thinning->epochs == 40);
    const nsdump::SliceThinning &outer = slice_of(report, "outer").thinning.value();
    REQUIRE(outer.net);
    CHECK(outer.net->value == Approx(250));
    CHECK(outer.net->ci95 < 1.2);
    CHECK(outer.epochs == 10);
    CHECK(outer.slices == 200);
    CHECK(outer.cells.size() == 4);
    REQUIRE(outer.costs.size() == 2);
    CHECK(outer.costs[0].name == "inner");
    CHECK(outer.costs[0].kind == "pair");
    CHECK(outer.costs[0].per_slice == Approx(2));
    CHECK(outer.costs[0].per_record->value == Approx(60));
    CHECK(outer.costs[1].per_record->value == Approx(60));
    // The calibration claims 50 ± 1 for a pair.
    CHECK(outer.calibrated->value > 260);
    CHECK(outer.is_contradiction);
    CHECK(report.warnings.size() >= 1);
    const nsdump::Distribution &net = *slice_of(report, "outer").values[0].net;
    CHECK(net.trimmed_mean == Approx(250));
    CHECK(*net.trimmed_ci95 == outer.net->ci95);
}

TEST_CASE("a slice inside others has reads that cost what they cost there", "[nsdump][thinning]")
{
    Program program;
    for (int i = 0; i < 40; ++i) {
        program.begin_epoch(i % 2 == 0 ? std::vector{program.inner} : std::vector<uint16_t>{});
        for (int j = 0; j < 20; ++j)
            program.run({program.inner});
    }
    // Outer minus inner is 10 by the calibration, so with 60 for a pair its own reads cost 50: the
    // interval is smaller than that of the calibrated constant only if that has a wide bound.
    const auto inner = slice_of(program.report(), "inner").thinning.value();
    CHECK(inner.inner_from == nsdump::NetSource::kCalibration);
    CHECK(inner.reason ==
          "nothing is inside it, and no slice around it shows what its own reads cost");
    CHECK_FALSE(inner.net);
}

TEST_CASE("too few epochs give a reason and no value", "[nsdump][thinning]")
{
    Program program;
    for (int i = 0; i < 20; ++i) {
        program.begin_epoch(i < 7 ? std::vector{program.inner} : std::vector<uint16_t>{});
        for (int j = 0; j < 20; ++j)
            program.run({program.inner});
    }
    const auto outer = slice_of(program.report(), "outer").thinning.value();
    CHECK_FALSE(outer.net);
    CHECK(outer.reason == "7 epochs in which everything inside was off; at least 8 are required");
    CHECK(outer.used == nsdump::NetSource::kCalibration);
    REQUIRE(outer.costs.size() == 1);
    CHECK_FALSE(outer.costs[0].per_record);
}

TEST_CASE("names that are always off together have a common cost", "[nsdump][thinning]")
{
    Program program;
    for (int i = 0; i < 20; ++i) {
        program.begin_epoch(i % 2 == 0 ? std::vector{program.inner, program.other}
                                       : std::vector<uint16_t>{});
        for (int j = 0; j < 20; ++j)
            program.run({program.inner, program.other, program.other});
    }
    const auto outer = slice_of(program.report(), "outer").thinning.value();
    REQUIRE(outer.costs.size() == 1);
    CHECK(outer.costs[0].name == "inner + other");
    CHECK(outer.costs[0].per_slice == Approx(3));
    CHECK(outer.costs[0].per_record->value == Approx(60));
    CHECK(outer.net->value == Approx(250));
}

namespace
{
// What "inner" costs in "other", which contains `slices(number)` of them; after them,
// `disturbance(number)` ticks pass.
template <class Slices, class Disturbance>
nsdump::Measured cost_in_context(const Slices &slices, const Disturbance &disturbance)
{
    Program program;
    for (int i = 0, number = 0; i < 40; ++i) {
        program.begin_epoch(i % 2 == 0 ? std::vector{program.inner} : std::vector<uint16_t>{});
        for (int j = 0; j < 30; ++j, ++number) {
            program.now += 500;
            program.begin(program.other);
            for (int k = 0; k < slices(number); ++k) {
                program.begin(program.inner);
                program.now += 50;
                program.end(program.inner);
            }
            if (program.is_on(program.inner))
                program.now += uint64_t(disturbance(number));
            program.end(program.other);
        }
    }
    const auto other = slice_of(program.report(), "other").thinning.value();
    return other.costs.at(0).per_record.value();
}
} // namespace

TEST_CASE("half of what disturbs a sixth of the slices around many others is in the cost of these",
          "[nsdump][thinning]")
{
    const auto slices = [](int) { return 10; };
    const auto disturbance = [](int number) { return number % 6 == 0 ? 2000 : 0; };
    const nsdump::Measured cost = cost_in_context(slices, disturbance);
    // 10 % of the slices that are not trimmed: 20 ticks for each inside.
    CHECK(cost.value == Approx(60 + 10).margin(4));
    CHECK(cost.value - cost.ci95 < 60.5);
    CHECK(cost.value - cost.ci95 > 50);
}

TEST_CASE("a cost is per record if some of the slices around have more records inside",
          "[nsdump][thinning]")
{
    const auto slices = [](int number) { return 10 + number * 7 % 11 * (number * 7 % 11); };
    CHECK(cost_in_context(slices, [](int) { return 0; }).value == Approx(60).epsilon(0.05));
}

TEST_CASE("a slice inside which something is never off, or which contains itself, has no value",
          "[nsdump][thinning]")
{
    Program program;
    for (int i = 0; i < 20; ++i) {
        program.begin_epoch(i % 2 == 0 ? std::vector{program.inner} : std::vector<uint16_t>{});
        program.run({program.inner, program.other});
        program.now += 500;
        program.begin(program.other);
        program.run({program.other});
        program.end(program.other);
    }
    const auto report = program.report();
    CHECK(slice_of(report, "outer").thinning->reason ==
          "other, which is inside, was never switched off");
    CHECK(slice_of(report, "other").thinning->reason ==
          "it contains itself, so that not everything inside can be off while it is on");
}

TEST_CASE("what is never off and inside one of a thousand slices does not withhold the estimate",
          "[nsdump][thinning]")
{
    Program program;
    for (int i = 0; i < 40; ++i) {
        program.begin_epoch(i % 2 == 0 ? std::vector{program.inner} : std::vector<uint16_t>{});
        for (int j = 0; j < 60; ++j)
            program.run({program.inner});
        if (i == 7) // as if it had been interrupted
            program.run({program.inner, program.other});
    }
    const auto report = program.report();
    const nsdump::SliceThinning &outer = slice_of(report, "outer").thinning.value();
    REQUIRE(outer.net);
    CHECK(outer.net->value == Approx(150));
}

TEST_CASE("missing epochs withhold the estimates and leave the other figures", "[nsdump][thinning]")
{
    Program program;
    for (int i = 0; i < 20; ++i) {
        program.begin_epoch(i % 2 == 0 ? std::vector{program.inner} : std::vector<uint16_t>{});
        program.run({program.inner});
    }
    program.epoch(50 * kEpoch, 40 * kEpoch, {});
    const auto report = program.report();
    CHECK_THAT(report.thinning->reason, Contains("1 chunk"));
    const nsdump::SliceReport &outer = slice_of(report, "outer");
    CHECK_FALSE(outer.thinning->net);
    CHECK(outer.thinning->reason == report.thinning->reason);
    CHECK(outer.values[0].net->trimmed_mean == outer.thinning->calibrated->value);
}

TEST_CASE("thinning can be switched off, and needs epochs", "[nsdump][thinning]")
{
    Program program;
    for (int i = 0; i < 40; ++i) {
        program.begin_epoch(i % 2 == 0 ? std::vector{program.inner} : std::vector<uint16_t>{});
        program.run({program.inner});
    }
    nsdump::AnalyseOptions options;
    options.use_thinning = false;
    const auto report = program.report(options);
    CHECK(report.thinning->reason == "it is switched off");
    CHECK_FALSE(slice_of(report, "outer").thinning->net);

    Program plain;
    plain.run({plain.inner});
    CHECK_FALSE(slice_of(plain.report(), "outer").thinning);
    Program explained;
    explained.run({explained.inner});
    options.explains = true;
    const auto outer = slice_of(explained.report(options), "outer").thinning.value();
    CHECK(outer.reason == "it is switched off");
    CHECK(outer.costs.at(0).per_slice == 1);
    CHECK(outer.costs[0].calibrated.value == 50);
    CHECK(outer.inner.value == 40);
}

TEST_CASE("counters and self are those of slices with all probes on", "[nsdump][thinning]")
{
    Program program("INSTRUCTIONS");
    uint64_t count = 0;
    for (int i = 0; i < 20; ++i) {
        program.begin_epoch(i % 2 == 0 ? std::vector{program.inner} : std::vector<uint16_t>{});
        const bool is_on = i % 2 != 0;
        for (int j = 0; j < 3; ++j) {
            program.begin(program.outer, {count});
            program.begin(program.inner, {count + 10});
            program.now += 100;
            program.end(program.inner, {count + 10 + 100 + 10});
            count += 1000 + (is_on ? 0 : 2);
            program.end(program.outer, {count});
        }
    }
    const auto report = program.report();
    const nsdump::SliceReport &outer = slice_of(report, "outer");
    REQUIRE(outer.values.size() == 2);
    CHECK(outer.values[0].count == 60);
    CHECK(outer.values[1].field == "INSTRUCTIONS");
    CHECK(outer.values[1].count == 30);
    CHECK(outer.values[1].raw.max == 1000);
    CHECK(outer.uncounted == 0);
    REQUIRE(outer.values[0].self);
    // 40 and 20 between the reads of both slices, minus what these claim of it
    CHECK(outer.values[0].self->mean == Approx(20 - 10).margin(12));
}

TEST_CASE("counts come only from slices of which it is known that all probes were on",
          "[nsdump][thinning]")
{
    Program program("INSTRUCTIONS");
    uint64_t count = 0;
    const auto run_at = [&](uint64_t ticks, bool is_on) {
        program.now = ticks;
        program.start(0, 1, program.outer, program.now += 10, {count});
        count += 1000 + (is_on ? 0 : 3);
        program.stop(0, 1, program.outer, program.now += 100, {count});
    };
    run_at(100, true); // before anything was switched
    program.begin_epoch({});
    run_at(program.now + 1000, true);
    run_at(program.now + 300'000, true);
    run_at(2 * kEpoch - 150, true); // into the short gap between epochs with everything on
    program.begin_epoch({});
    run_at(program.now + 1000, true);
    run_at(3 * kEpoch - 150, false); // into the gap before an epoch with something off
    program.begin_epoch({program.inner});
    run_at(program.now + 1000, false);
    run_at(4 * kEpoch - 90, false); // in the gap after it
    program.begin_epoch({});
    program.epochs += 3; // they are not listed
    run_at(6 * kEpoch, false);
    program.begin_epoch({});
    run_at(program.now + 1000, true);

    SECTION("a program that was killed has not listed its last epochs")
    {
        run_at(program.now + 3 * kEpoch, false);
        const auto report = program.report();
        const nsdump::SliceReport &outer = slice_of(report, "outer");
        CHECK(outer.values[0].count == 11);
        REQUIRE(outer.values.size() == 2);
        CHECK(outer.values[1].count == 6);
        CHECK(outer.values[1].raw.max == 1000);
        CHECK(report.thinning->all_on == 6);
        CHECK(report.thinning->not_all_on == 5);
    }
    SECTION("an epoch without length says that everything is on from then on")
    {
        program.epoch(9 * kEpoch - 90, 9 * kEpoch - 90, {});
        run_at(12 * kEpoch, true);
        CHECK(slice_of(program.report(), "outer").values.at(1).count == 7);
    }
    SECTION("with epochs missing, nothing is known of the time before those that there are")
    {
        program.epoch(50 * kEpoch, 40 * kEpoch, {});
        const auto report = program.report();
        CHECK(slice_of(report, "outer").values.at(1).count == 5);
        CHECK(slice_of(report, "outer").values[1].raw.max == 1000);
    }
}

TEST_CASE("a slice that has no counts because probes were always off is reported",
          "[nsdump][thinning]")
{
    Program program("INSTRUCTIONS");
    for (int i = 0; i < 20; ++i) {
        program.begin_epoch({program.inner});
        program.start(0, 1, program.outer, program.now += 1000, {0});
        program.stop(0, 1, program.outer, program.now += 1000, {1003});
    }
    const auto report = program.report();
    CHECK(slice_of(report, "outer").values.size() == 1);
    CHECK(report.thinning->not_all_on == 20);
    CHECK(std::any_of(report.warnings.begin(), report.warnings.end(), [](const auto &warning) {
        return warning.starts_with("slice outer has times but no counts: each of its 20 slices");
    }));
}

TEST_CASE("that nothing was switched off has a reason that the trace bears out",
          "[nsdump][thinning]")
{
    const auto warnings_of = [](const std::vector<uint16_t> &inside) {
        Program program;
        program.info("session.thin_permille=500\nsession.epoch_chunks=0\n");
        for (int i = 0; i < 10; ++i)
            program.run(inside);
        std::string all;
        for (const std::string &warning : program.report().warnings)
            all += warning + "\n";
        return all;
    };
    CHECK_THAT(warnings_of({}), Contains("switched nothing off: no slice or mark lies inside"));
    CHECK_THAT(warnings_of({Program().inner}),
               Contains("switched nothing off: there are slices or marks inside others, but none "
                        "was found before the end of the recording, which may be too short"));
}

TEST_CASE("a START and a STOP around an epoch in which the slice was off are no slice",
          "[nsdump][thinning]")
{
    Program program;
    for (int i = 0; i < 20; ++i) {
        program.begin_epoch(i == 10 ? std::vector{program.outer} : std::vector<uint16_t>{});
        program.run({});
        if (i == 9)
            program.start(0, 1, program.outer, program.now + 10); // its STOP is off
        if (i == 11)
            program.stop(0, 1, program.outer, program.now + 10); // its START was off
    }
    const auto report = program.report();
    const nsdump::SliceReport &outer = slice_of(report, "outer");
    CHECK(outer.values[0].count == 19);
    CHECK(outer.values[0].raw.max < 1000);
    CHECK_THAT(report.warnings.back(), Contains("1 slice has a START before and a STOP after"));
}

TEST_CASE("units are compared between epochs with all probes and with most of them off",
          "[nsdump][thinning]")
{
    Program program;
    const auto unit = program.site("unit", NSLICE_KIND_INIT);
    for (int i = 0; i < 40; ++i) {
        const bool is_off = i % 2 == 0;
        program.begin_epoch(is_off ? std::vector{program.inner} : std::vector<uint16_t>{});
        for (uint64_t j = 0; j < (is_off ? 110u : 100u) + uint64_t(i / 2 % 3); ++j) {
            program.init(0, 1, unit, program.now += 100, j, 1, 64);
            program.exit(0, 1, unit, program.now += 10);
        }
    }
    const auto report = program.report();
    REQUIRE(report.thinning->units.size() == 1);
    const nsdump::ThinnedUnits &units = report.thinning->units[0];
    CHECK(units.name == "unit");
    CHECK(units.epochs_on == 20);
    CHECK(units.epochs_off == 20);
    CHECK(units.per_second_on.value == Approx(101e3).epsilon(0.01));
    CHECK(units.per_second_off.value == Approx(111e3).epsilon(0.01));
    CHECK(units.ticks_on.value == Approx(1e9 / units.per_second_on.value));
    CHECK(units.cost.value == Approx(0.1).margin(0.01));
    CHECK(units.cost.ci95 < 0.02);
}
