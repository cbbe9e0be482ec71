// SPDX-License-Identifier: MIT
// Meter: the cost of functions.
#include "engine/packet_path/meter.hpp"

#include <algorithm>
#include <cmath>

#include "engine/copy_text.hpp"

namespace mapi::engine
{
namespace
{
// The net value of short work may be negative.
uint64_t whole(double value)
{
    return uint64_t(std::llround(std::max(value, 0.0)));
}
} // namespace

Meter::Meter()
{
    nsp_meter *opened = nullptr;
    if (nsp_meter_open(&opened) != 0)
        throw std::bad_alloc();
    meter_.reset(opened);
}

void Meter::describe(const MeterSum &sum, mapi_perf_t &perf) const
{
    nsp_meter_net net = {};
    nsp_meter_read(meter_.get(), &sum, &net);
    perf.calls = sum.calls;
    perf.ticks = whole(net.ticks);
    perf.ticks_ci95 = whole(net.ticks_ci95);
    perf.ticks_per_second = whole(net.ticks_per_second);
    perf.counted_calls = sum.counted_calls;
    perf.instructions = whole(net.instructions);
    perf.cycles = whole(net.cycles);
    perf.cycles_ci95 = whole(net.cycles_ci95);
    copy_text(perf.source, nsp_meter_source(meter_.get()));
}

void add(MeterSum &to, const MeterSum &from, const MeterSum &base)
{
    to.calls += from.calls - base.calls;
    to.ticks += from.ticks - base.ticks;
    to.counted_calls += from.counted_calls - base.counted_calls;
    to.instructions += from.instructions - base.instructions;
    to.cycles += from.cycles - base.cycles;
}
} // namespace mapi::engine
