// SPDX-License-Identifier: MIT
// Bursts of events -> cost of one event, by one method for every rival.
//
// A round is a burst: the empty loop, the bare clock read and the event, each as a batch of n and
// one of 2n.  The mean of each batch, minus that of the empty loop, is a batch mean; the median of
// these is the result. The difference of the two batches, divided by n, is reported next to it and
// excludes the fixed cost of a batch. Between rounds the thread rests, so that a rival's consumer
// can catch up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "machine.hpp"
#include "report.hpp"

namespace rival
{
struct Plan {
    int rounds = 101;
    int batch = 10000; // maximum
    std::chrono::milliseconds rest{5};
};

// `--rounds N --batch N`; anything else ends the program.
inline Plan plan_of(int argc, char **argv)
{
    Plan plan;
    for (int i = 1; i < argc; i += 2) {
        const int number = i + 1 < argc ? std::atoi(argv[i + 1]) : 0;
        if (number > 0 && std::strcmp(argv[i], "--rounds") == 0)
            plan.rounds = number;
        else if (number > 0 && std::strcmp(argv[i], "--batch") == 0)
            plan.batch = number;
        else {
            std::fprintf(stderr, "usage: %s [--rounds N] [--batch N]\n", argv[0]);
            std::exit(2);
        }
    }
    return plan;
}

constexpr int kLeastBatch = 100;

template <typename Once> [[gnu::noinline]] double ticks_of(int times, Once &&once)
{
    const uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < times; ++i) {
        once();
        __asm__ volatile("" ::: "memory");
    }
    return double(bench::fenced_ticks() - begin);
}

// Batch means of n and of 2n.
struct Pair {
    double n, twice;
};

template <typename Once> Pair means(int batch, Once &&once)
{
    const double single = ticks_of(batch, once) / batch;
    return {single, ticks_of(2 * batch, once) / (2.0 * batch)};
}

// Lambdas instead of functions, so that they are inlined into the timed loop.
inline constexpr auto nothing = [] {};
inline constexpr auto clock_read = [] { __asm__ volatile("rdtsc" ::: "rax", "rdx"); };

// Batches of expensive events are smaller: the longer a batch, the likelier that another program
// runs during it.
template <typename Event> int batch_of(const Plan &plan, Event &&event)
{
    constexpr double kBatchNs = 1e5;
    ticks_of(kLeastBatch, event);
    const double ns = ticks_of(kLeastBatch, event) / kLeastBatch / bench::ticks_per_ns();
    return std::min(plan.batch, std::max(kLeastBatch, int(kBatchNs / ns)));
}

// `bare` is what the program would do without the rival: nothing, or a call of an untraced
// function.
template <typename Event, typename Bare> Cost measure(const Plan &plan, Event &&event, Bare &&bare)
{
    Cost cost;
    bench::pin_to_last_cpu();
    cost.batch = batch_of(plan, event);
    cost.calls = 2 * kLeastBatch;
    const int warm = cost.batch / 10 + 1;
    for (int round = 0; round < plan.rounds; ++round) {
        std::this_thread::sleep_for(plan.rest);
        const double empty = means(cost.batch, nothing).twice;
        const double left = means(cost.batch, bare).twice;
        const Pair clock = means(cost.batch, clock_read);
        ticks_of(warm, event);
        const Pair traced = means(cost.batch, event);
        cost.clock.insert(cost.clock.end(), {clock.n - empty, clock.twice - empty});
        cost.event.insert(cost.event.end(), {traced.n - left, traced.twice - left});
        cost.event_2n_less_n.push_back(2 * traced.twice - traced.n - left);
        cost.empty.push_back(empty);
        cost.bare.push_back(left);
        cost.calls += uint64_t(warm + 3 * cost.batch);
    }
    return cost;
}

template <typename Event> Cost measure(const Plan &plan, Event &&event)
{
    return measure(plan, event, nothing);
}
} // namespace rival
