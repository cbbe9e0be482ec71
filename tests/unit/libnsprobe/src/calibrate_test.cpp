// SPDX-License-Identifier: MIT
// What a calibration on request returns: the pair, and START and STOP separately on request.
#include <cerrno>
#include <cmath>
#include <memory>
#include <string>

#include <nsprobe/calibrate.h>

#include "support/catch.hpp"
#include "support/requires.hpp"

namespace
{
using Calibration = std::unique_ptr<nsp_calibration>;

int calibrate(nsp_calibration_request request, Calibration &out)
{
    out = std::make_unique<nsp_calibration>();
    return nsp_calibrate(&request, out.get());
}

const nslice_calibration_entry *find(const nslice_calibration_entry *entries, uint32_t count,
                                     unsigned kind, unsigned field)
{
    for (uint32_t i = 0; i < count; ++i)
        if (entries[i].kind == kind && entries[i].field == field)
            return &entries[i];
    return nullptr;
}
} // namespace

TEST_CASE("a calibration has the halves of the pair only on request", "[libnsprobe][calibrate]")
{
    Calibration without, with;
    REQUIRE(calibrate({NSP_CLOCK_FAST, {}, nullptr, NSP_SOURCE_NONE, 20, 0}, without) == 0);
    REQUIRE(calibrate({NSP_CLOCK_FAST, {}, nullptr, NSP_SOURCE_NONE, 20, 1}, with) == 0);
    CHECK(without->half_count == 0);
    CHECK(with->count == without->count);
    uint32_t in_two_contexts = 0;
    for (uint32_t i = 0; i < with->count; ++i)
        in_two_contexts += !(with->entries[i].kind & NSLICE_ENTRY_OVERTAKING);
    CHECK(with->half_count * NSP_CALIBRATION_KINDS == in_two_contexts * NSP_CALIBRATION_HALVES);
}

TEST_CASE("fences keep a STOP from overtaking more work than work hides of a pair",
          "[libnsprobe][calibrate]")
{
    constexpr double kAllowed = 10; // ticks
    for (const nsp_clock_mode mode : {NSP_CLOCK_FAST, NSP_CLOCK_ORDERED}) {
        Calibration cost;
        REQUIRE(calibrate({mode, {}, nullptr, NSP_SOURCE_NONE, 200, 0}, cost) == 0);
        const auto entry = [&](unsigned context) {
            return find(cost->entries, cost->count, NSLICE_KIND_START | context, 0);
        };
        const auto *work = entry(0), *alone = entry(NSLICE_ENTRY_ALONE),
                   *most = entry(NSLICE_ENTRY_OVERTAKING);
        REQUIRE((work && alone && most));
        CHECK(most->samples == work->samples);
        const double overtaken = work->inner - most->inner,
                     error = work->inner_ci95 + most->inner_ci95 + kAllowed;
        INFO(overtaken << " ± " << error);
        CHECK(overtaken > -error);
        if (mode == NSP_CLOCK_ORDERED)
            CHECK(overtaken < std::fabs(alone->inner - work->inner) + error);
    }
}

TEST_CASE("START and STOP measured separately take about as long together as the pair",
          "[libnsprobe][calibrate]")
{
    for (const nsp_clock_mode mode : {NSP_CLOCK_FAST, NSP_CLOCK_ORDERED}) {
        Calibration cost;
        REQUIRE(calibrate({mode, {}, nullptr, NSP_SOURCE_NONE, 200, 1}, cost) == 0);
        const auto *pair =
            find(cost->entries, cost->count, NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0);
        const auto *start =
            find(cost->halves, cost->half_count, NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0);
        const auto *stop =
            find(cost->halves, cost->half_count, NSLICE_KIND_STOP | NSLICE_ENTRY_ALONE, 0);
        REQUIRE((pair && start && stop));
        CHECK(start->outer > 0);
        CHECK(stop->outer > 0);
        CHECK(start->outer + stop->outer > 0.5 * pair->outer);
        CHECK(start->outer + stop->outer < 2 * pair->outer);
        CHECK(start->inner == 0);
    }
}

TEST_CASE("in mode fast, a pair by itself costs no less than one that overlaps with work",
          "[libnsprobe][calibrate]")
{
    Calibration cost;
    REQUIRE(calibrate({NSP_CLOCK_FAST, {}, nullptr, NSP_SOURCE_NONE, 200, 1}, cost) == 0);
    const auto *hidden = find(cost->entries, cost->count, NSLICE_KIND_START, 0);
    const auto *alone = find(cost->entries, cost->count, NSLICE_KIND_START | NSLICE_ENTRY_ALONE, 0);
    REQUIRE((hidden && alone));
    CHECK(alone->outer + alone->outer_ci95 + hidden->outer_ci95 > hidden->outer);
    CHECK(alone->outer > 0);
    CHECK(alone->cpu == hidden->cpu);
    CHECK(find(cost->halves, cost->half_count, NSLICE_KIND_STOP | NSLICE_ENTRY_ALONE, 0));
}

TEST_CASE("stepped instructions of START and STOP add up to those of the pair",
          "[libnsprobe][calibrate]")
{
    for (const nslice_ring_kind ring : {NSLICE_RING_RSEQ, NSLICE_RING_ATOMIC})
        for (const nsp_clock_mode mode : {NSP_CLOCK_FAST, NSP_CLOCK_ORDERED}) {
            Calibration cost;
            const int err = calibrate({mode, ring, "instructions", NSP_SOURCE_STEP, 5, 1}, cost);
            if (err == -ENOTSUP) {
                test_support::skip(nsp_last_error());
                return;
            }
            REQUIRE(err == 0);
            const auto *pair = find(cost->entries, cost->count, NSLICE_KIND_START, 1);
            const auto *start = find(cost->halves, cost->half_count, NSLICE_KIND_START, 1);
            const auto *stop = find(cost->halves, cost->half_count, NSLICE_KIND_STOP, 1);
            REQUIRE((pair && start && stop));
            CHECK(start->outer > 0);
            CHECK(stop->outer > 0);
            CHECK(start->outer + stop->outer == pair->outer);
            CHECK_FALSE(find(cost->entries, cost->count, NSLICE_KIND_START | NSLICE_ENTRY_ALONE,
                             1)); // nothing is hidden from a counter
        }
}
