// SPDX-License-Identifier: MIT
// Meter: functions of a plan, as they run -> their cost; opened by the device's thread when a flow
// requests it.
#pragma once

#include <memory>
#include <new>

#include <mapi/results.h>
#include <nsprobe/meter.h>

namespace mapi::engine
{
using MeterSum = nsp_meter_sum;

// Used only by the device's thread.
class Meter
{
public:
    // Measures the calling thread.  Throws std::bad_alloc.
    Meter();

    void begin() { nsp_meter_begin(meter_.get()); }
    void end(MeterSum &sum) { nsp_meter_end(meter_.get(), &sum); }
    // Sets all members except packets.
    void describe(const MeterSum &sum, mapi_perf_t &perf) const;

private:
    struct Close {
        void operator()(nsp_meter *meter) const { nsp_meter_close(meter); }
    };
    std::unique_ptr<nsp_meter, Close> meter_;
};

// to += from - base, member by member.
void add(MeterSum &to, const MeterSum &from, const MeterSum &base);
} // namespace mapi::engine
