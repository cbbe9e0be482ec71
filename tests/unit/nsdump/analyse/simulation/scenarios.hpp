// SPDX-License-Identifier: MIT
// Programs of known duration, run on the simulated machine -> what their intervals must hold.
#pragma once

#include <cmath>
#include <functional>

#include "simulation/session.hpp"

namespace simulation
{
// Durations of slices, and their true mean.
struct Durations {
    std::function<double(Random &)> draw;
    double mean;
};

inline Durations constant(double ticks)
{
    return {[=](Random &) { return ticks; }, ticks};
}

inline Durations normal(double mean, double sd)
{
    return {[=](Random &random) { return mean + sd * random.normal(); }, mean};
}

inline Durations lognormal(double median, double sigma)
{
    return {[=](Random &random) { return median * std::exp(sigma * random.normal()); },
            median * std::exp(sigma * sigma / 2)};
}

inline Outcome outcome_of(const nsdump::FieldReport &field, double truth)
{
    return {field.net->mean, field.net->ci95.value_or(0), truth};
}

// Runs `body` for each of `count` slices, with pauses; the cost of the probes changes meanwhile.
template <class Body> void repeat(Machine &machine, int count, Body body)
{
    for (int i = 0; i < count; ++i) {
        machine.set_progress((i + 0.5) / count);
        machine.pause();
        body(i);
    }
}

// Slices with nothing inside: equation (1).
inline nsdump::StatsReport leaves(const Model &model, const Durations &durations, int count,
                                  Random &random)
{
    Session session({model}, random);
    const auto site = session.site("leaf");
    Machine &machine = session.machine();
    repeat(machine, count, [&](int) {
        machine.start(site);
        machine.work(durations.draw(random));
        machine.stop(site);
    });
    return session.report();
}

// A slice with `pairs` slices inside, and work before, between and after them: equation (3).
inline nsdump::StatsReport nested(const Model &model, int pairs, const Durations &inside,
                                  const Durations &between, int count, Random &random)
{
    Session session({model}, random);
    const auto outer = session.site("outer"), inner = session.site("inner");
    Machine &machine = session.machine();
    repeat(machine, count, [&](int) {
        machine.start(outer);
        machine.work(between.draw(random));
        for (int pair = 0; pair < pairs; ++pair) {
            machine.start(inner);
            machine.work(inside.draw(random));
            machine.stop(inner);
            machine.work(between.draw(random));
        }
        machine.stop(outer);
    });
    return session.report();
}

// INIT and EXIT inside the slice, with a MARK and a slice between them: equation (5).
inline nsdump::StatsReport unit_inside(const Model &model, const Durations &work, int count,
                                       Random &random)
{
    Session session({model}, random);
    const auto outer = session.site("outer"), inner = session.site("inner"),
               unit = session.site("unit"), mark = session.site("mark");
    Machine &machine = session.machine();
    repeat(machine, count, [&](int) {
        machine.start(outer);
        machine.init(unit, 64);
        machine.work(work.draw(random));
        machine.mark(mark);
        machine.start(inner);
        machine.work(work.draw(random));
        machine.stop(inner);
        machine.exit(unit);
        machine.stop(outer);
    });
    return session.report();
}

// Units of 1 to 64 packets that cost `each` per packet, `base` per unit, and some noise.
inline nsdump::StatsReport batches(const Model &model, double base, double each, double noise_sd,
                                   int count, Random &random)
{
    Session session({model}, random);
    const auto unit = session.site("unit"), slice = session.site("slice");
    Machine &machine = session.machine();
    repeat(machine, count, [&](int) {
        const auto packets = uint64_t(random.uniform(1, 65));
        machine.init(unit, packets);
        machine.start(slice);
        machine.work(base + each * double(packets) + noise_sd * random.normal());
        machine.stop(slice);
        machine.exit(unit);
    });
    return session.report();
}

// The same slice on two CPUs whose probes have different costs.
inline nsdump::StatsReport two_cpus(const Model &one, const Model &other,
                                    const Durations &durations, int count, Random &random)
{
    Session session({one, other}, random);
    const auto site = session.site("leaf");
    for (const uint32_t cpu : {0u, 1u}) {
        Machine &machine = session.machine(cpu);
        repeat(machine, count / 2, [&](int) {
            machine.start(site);
            machine.work(durations.draw(random));
            machine.stop(site);
        });
    }
    return session.report();
}
} // namespace simulation
