// SPDX-License-Identifier: MIT
// Traces of a simulated machine whose true values are known: nsdump's 95 % intervals hold them in
// 93 to 97 cases of 100, as few trials show, and as many prove (./run test release-long).
#include "simulation/scenarios.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"

using namespace simulation;

namespace
{
constexpr int kFewTrials = 1000, kManyTrials = 4000;
constexpr uint64_t kSeed = 20010107;

// The sampling error of a share of many trials, in 99 of 100 cases.
double chance(double share)
{
    return 2.58 * std::sqrt(share * (1 - share) / kManyTrials);
}

// Of many trials, the true share lies in 93 to 97 %, not only the one that was sampled.
template <class Trial> void check_coverage(const char *what, Trial trial)
{
    INFO(what);
    const bool has_many = test_support::asks_for_all_cases();
    const double share = coverage(has_many ? kManyTrials : kFewTrials, kSeed, trial);
    const double unsure = has_many ? chance(share) : 0;
    CHECK(share >= 0.93 + unsure);
    CHECK(share <= 0.97 - unsure);
}

Model with_step(double step)
{
    Model model;
    model.step = step;
    return model;
}

const Model kCoarse = with_step(26), kFine = with_step(1);
constexpr double kBetween = 20.2, kInside = 60.4; // ticks of work

double nested_truth(int pairs)
{
    return kBetween + pairs * (kInside + kBetween);
}
} // namespace

TEST_CASE("the interval of slices with nothing inside holds the truth, with a fine or coarse clock",
          "[nsdump][simulation]")
{
    const Durations skewed = lognormal(300, 0.5);
    check_coverage("constant, step 1", [&](Random &random) {
        return outcome_of(field_of(leaves(kFine, constant(137.3), 200, random), "leaf"), 137.3);
    });
    check_coverage("constant, step 26", [&](Random &random) {
        return outcome_of(field_of(leaves(kCoarse, constant(137.3), 200, random), "leaf"), 137.3);
    });
    check_coverage("normal, step 26", [&](Random &random) {
        return outcome_of(field_of(leaves(kCoarse, normal(300, 15), 200, random), "leaf"), 300);
    });
    check_coverage("skewed, step 26", [&](Random &random) {
        return outcome_of(field_of(leaves(kCoarse, skewed, 400, random), "leaf"), skewed.mean);
    });
    check_coverage("five slices", [&](Random &random) {
        return outcome_of(field_of(leaves(kFine, normal(300, 60), 5, random), "leaf"), 300);
    });
}

TEST_CASE("the interval holds the truth with 1 to 32 slices inside", "[nsdump][simulation]")
{
    for (const int pairs : {1, 2, 4, 8, 32}) {
        check_coverage(("pairs inside: " + std::to_string(pairs)).c_str(), [&](Random &random) {
            const int count = pairs < 32 ? 60 : 30;
            const auto report =
                nested(kCoarse, pairs, constant(kInside), constant(kBetween), count, random);
            return outcome_of(field_of(report, "outer"), nested_truth(pairs));
        });
    }
}

TEST_CASE("consecutive slices share their phase on the clock's steps, which the interval includes",
          "[nsdump][simulation]")
{
    check_coverage("the slices inside", [&](Random &random) {
        const auto report = nested(kCoarse, 4, constant(kInside), constant(kBetween), 60, random);
        return outcome_of(field_of(report, "inner"), kInside);
    });
}

TEST_CASE("the interval of self holds the truth", "[nsdump][simulation]")
{
    check_coverage("four slices inside", [&](Random &random) {
        const auto report = nested(kCoarse, 4, constant(kInside), constant(kBetween), 60, random);
        const nsdump::FieldReport &outer = field_of(report, "outer");
        return Outcome{outer.self->mean, outer.self->ci95.value_or(0), 5 * kBetween};
    });
}

TEST_CASE("the interval holds the truth with INIT, MARK and EXIT inside", "[nsdump][simulation]")
{
    check_coverage("equation (5)", [&](Random &random) {
        return outcome_of(field_of(unit_inside(kCoarse, normal(100, 9), 100, random), "outer"),
                          200);
    });
}

TEST_CASE("the interval holds the truth over CPUs whose probes have different costs",
          "[nsdump][simulation]")
{
    Model dear = kCoarse;
    for (ProbeModel &probe : dear.probes)
        probe.after *= 1.2;
    check_coverage("two CPUs", [&](Random &random) {
        return outcome_of(field_of(two_cpus(kCoarse, dear, normal(100, 9), 200, random), "leaf"),
                          100);
    });
}

TEST_CASE("the interval of a counter holds the truth", "[nsdump][simulation]")
{
    Model model;
    model.has_counter = true;
    check_coverage("nothing inside", [&](Random &random) {
        return outcome_of(field_of(leaves(model, normal(100, 9), 200, random), "leaf", 1),
                          100 * kCounterRate);
    });
    check_coverage("four slices inside", [&](Random &random) {
        const auto report = nested(model, 4, constant(kInside), constant(kBetween), 60, random);
        return outcome_of(field_of(report, "outer", 1), nested_truth(4) * kCounterRate);
    });
}

TEST_CASE("the interval holds the truth where the cost of probes drifts between turns and later",
          "[nsdump][simulation]")
{
    Model model;
    model.wander_sd = 0.01;
    check_coverage("eight slices inside", [&](Random &random) {
        Model here = model;
        here.cost_in_program = 1 + model.wander_sd * random.normal(); // one more turn
        return outcome_of(
            field_of(nested(here, 8, constant(kInside), constant(kBetween), 60, random), "outer"),
            nested_truth(8));
    });
}

TEST_CASE("the interval of net per packet holds the truth over batches of any size",
          "[nsdump][simulation]")
{
    check_coverage("1 to 64 packets", [&](Random &random) {
        const auto report = batches(kCoarse, 100, 10, 30, 100, random);
        const nsdump::PerPacket &packet = *field_of(report, "slice").per_packet;
        return Outcome{*packet.net, packet.net_ci95.value_or(0), 10 + 100 / 32.5};
    });
}

TEST_CASE("the interval of the trimmed mean holds the truth", "[nsdump][simulation]")
{
    check_coverage("normal", [&](Random &random) {
        const auto report = leaves(kFine, normal(3000, 150), 200, random);
        const nsdump::Distribution &net = *field_of(report, "leaf").net;
        return Outcome{net.trimmed_mean, net.trimmed_ci95.value_or(0), 3000};
    });
}
