// SPDX-License-Identifier: MIT
// A machine with known costs: work and probes -> the records that it would write.
#include "simulation/machine.hpp"

#include <cmath>

namespace simulation
{
void Machine::set_progress(double share)
{
    const double way = model_.jump_at < 0 ? share : share < model_.jump_at ? 0 : 1;
    cost_ = model_.cost_in_program *
            (model_.cost_at_start + way * (model_.cost_at_end - model_.cost_at_start));
}

void Machine::pause()
{
    now_ += random_.uniform(200, 1200);
    if (model_.locked_phase < 0)
        return;
    // START's clock read has to be at the phase
    const double read_at = now_ + phase_ + model_.probes[kStart].before;
    now_ += model_.step - std::fmod(read_at, model_.step) + model_.locked_phase;
}

uint64_t Machine::read() const
{
    return uint64_t(std::floor((now_ + phase_) / model_.step) * model_.step);
}

test_support::Words Machine::counters() const
{
    if (!model_.has_counter)
        return {};
    return {uint64_t(kCounterRate * (now_ + phase_))};
}

template <class Write> void Machine::probe(Probe kind, Write write)
{
    const ProbeModel &model = model_.probes[kind];
    now_ += part(model.before, model.sd);
    write();
    now_ += part(model.after, model.sd);
}

void Machine::start(uint16_t slice)
{
    probe(kStart, [&] { trace_.start(cpu_, 1 + cpu_, slice, read(), counters()); });
}

void Machine::stop(uint16_t slice)
{
    probe(kStop, [&] { trace_.stop(cpu_, 1 + cpu_, slice, read(), counters()); });
}

void Machine::mark(uint16_t slice)
{
    probe(kMark, [&] { trace_.mark(cpu_, 1 + cpu_, slice, read(), 1); });
}

void Machine::init(uint16_t unit, uint64_t packets)
{
    probe(kInit,
          [&] { trace_.init(cpu_, 1 + cpu_, unit, read(), ++units_, packets, 64 * packets); });
}

void Machine::exit(uint16_t unit)
{
    probe(kExit, [&] { trace_.exit(cpu_, 1 + cpu_, unit, read()); });
}
} // namespace simulation
