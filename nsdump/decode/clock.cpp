// SPDX-License-Identifier: MIT
// decode: pairs of ticks and nanoseconds -> the clock's rate.
#include "decode/clock.hpp"

#include <cmath>
#include <cstdlib>

namespace nsdump
{
namespace
{
// A pair is right to about 100 ns, so 10 ms make a rate that is right to 10 ppm.
constexpr std::uint64_t kMinSpanNs = 10'000'000;

bool rate_between(std::uint64_t ticks_a, std::uint64_t ns_a, std::uint64_t ticks_b, std::uint64_t ns_b,
                  std::uint64_t min_span_ns, double &hz)
{
    if (ns_b <= ns_a || ticks_b <= ticks_a || ns_b - ns_a < min_span_ns)
        return false;
    hz = static_cast<double>(ticks_b - ticks_a) * 1e9 / static_cast<double>(ns_b - ns_a);
    return true;
}
} // namespace

Clock clock_of(const TraceFile &trace)
{
    Clock clock;
    clock.source = trace.info("clock.source");
    clock.mode = trace.info("clock.mode");
    const Calibration *start = nullptr;
    const Calibration *end = nullptr;
    for (const Calibration &calibration : trace.calibrations()) {
        if (calibration.phase == NSLICE_CALIBRATION_START && !start)
            start = &calibration;
        if (calibration.phase == NSLICE_CALIBRATION_END)
            end = &calibration;
    }
    if (const Calibration *any = start ? start : end) {
        clock.step_ticks = std::isfinite(any->clock_step_ticks) ? any->clock_step_ticks : 0;
        clock.read_ticks = std::isfinite(any->clock_read_ticks) ? any->clock_read_ticks : 0;
    }
    const double told = std::strtod(trace.info("clock.hz").c_str(), nullptr);
    const bool is_told = std::isfinite(told) && told > 0;
    if (is_told)
        clock.hz = told;
    if (!start)
        return clock;
    clock.start_ticks = start->ticks;
    const std::uint64_t min_span_ns = is_told ? kMinSpanNs : 1;
    const auto &footer = trace.footer();
    if (footer && rate_between(start->ticks, start->mono_ns, footer->ticks, footer->mono_ns, min_span_ns, clock.hz))
        return clock;
    if (end)
        rate_between(start->ticks, start->mono_ns, end->ticks, end->mono_ns, min_span_ns, clock.hz);
    return clock;
}
} // namespace nsdump
