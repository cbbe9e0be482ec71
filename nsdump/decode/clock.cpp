// SPDX-License-Identifier: MIT
// decode: pairs of ticks and nanoseconds -> the clock's rate.
#include "decode/clock.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>

namespace nsdump
{
namespace
{
// A pair is accurate to about 100 ns, so a span of 10 ms gives a rate accurate to 10 ppm.
constexpr uint64_t kMinSpanNs = 10'000'000;

bool rate_between(uint64_t ticks_a, uint64_t ns_a, uint64_t ticks_b, uint64_t ns_b,
                  uint64_t min_span_ns, double &hz)
{
    if (ns_b <= ns_a || ticks_b <= ticks_a || ns_b - ns_a < min_span_ns)
        return false;
    hz = double(ticks_b - ticks_a) * 1e9 / double(ns_b - ns_a);
    return true;
}
} // namespace

namespace
{
struct Pair {
    uint64_t ticks;
    uint64_t mono_ns;
};

// The first pair of a recording: of a program, or else of the kernel.
std::optional<Pair> start_pair(const TraceFile &trace)
{
    for (const Calibration &calibration : trace.calibrations())
        if (calibration.phase == NSLICE_CALIBRATION_START)
            return Pair{calibration.ticks, calibration.mono_ns};
    for (const KernelCalibration &calibration : trace.kernel_calibrations())
        if (calibration.phase == NSLICE_CALIBRATION_START)
            return Pair{calibration.ticks, calibration.mono_ns};
    return std::nullopt;
}

// The last pair.
std::optional<Pair> end_pair(const TraceFile &trace)
{
    std::optional<Pair> end;
    for (const Calibration &calibration : trace.calibrations())
        if (calibration.phase == NSLICE_CALIBRATION_END)
            end = Pair{calibration.ticks, calibration.mono_ns};
    return end;
}

// Takes step and read cost of the clock from the first calibration.
void take_granularity(const TraceFile &trace, Clock &clock)
{
    const auto &all = trace.calibrations();
    const auto is_start = [](const Calibration &one) {
        return one.phase == NSLICE_CALIBRATION_START;
    };
    auto reported = std::find_if(all.begin(), all.end(), is_start);
    if (reported == all.end() && !all.empty())
        reported = std::prev(all.end());
    if (reported == all.end())
        return;
    clock.step_ticks = std::isfinite(reported->clock_step_ticks) ? reported->clock_step_ticks : 0;
    clock.read_ticks = std::isfinite(reported->clock_read_ticks) ? reported->clock_read_ticks : 0;
}
} // namespace

Clock clock_of(const TraceFile &trace)
{
    Clock clock;
    clock.source = trace.info("clock.source");
    clock.mode = trace.info("clock.mode");
    if (clock.source.empty()) { // only the kernel was recorded
        clock.source = trace.info("kernel.clock");
        clock.mode = trace.info("kernel.clock.mode");
    }
    take_granularity(trace, clock);
    const double reported = std::strtod(trace.info("clock.hz").c_str(), nullptr);
    const bool is_reported = std::isfinite(reported) && reported > 0;
    if (is_reported)
        clock.hz = reported;
    const auto start = start_pair(trace);
    if (!start)
        return clock;
    clock.start_ticks = start->ticks;
    clock.start_mono_ns = start->mono_ns;
    const uint64_t min_span_ns = is_reported ? kMinSpanNs : 1;
    const auto &footer = trace.footer();
    if (footer && rate_between(start->ticks, start->mono_ns, footer->ticks, footer->mono_ns,
                               min_span_ns, clock.hz))
        return clock;
    if (const auto end = end_pair(trace))
        rate_between(start->ticks, start->mono_ns, end->ticks, end->mono_ns, min_span_ns, clock.hz);
    return clock;
}

uint64_t zero_ticks_of(const TraceFile &trace, const Clock &clock)
{
    uint64_t first_ticks = std::numeric_limits<uint64_t>::max();
    for (const CpuChunks &chunks : trace.cpus())
        first_ticks = std::min(first_ticks, chunks.first_ticks);
    const bool has_start = clock.start_ticks > 0 && clock.start_ticks <= first_ticks;
    return has_start || trace.cpus().empty() ? clock.start_ticks : first_ticks;
}

uint64_t ticks_at(double since_start_ns, const Clock &clock, uint64_t zero_ticks)
{
    const double ticks = std::round(since_start_ns * clock.hz / 1e9);
    const uint64_t room = std::numeric_limits<uint64_t>::max() - zero_ticks;
    return zero_ticks + std::min(uint64_t(std::clamp(ticks, 0.0, 0x1p63)), room);
}

uint64_t ticks_in(double length_ns, const Clock &clock)
{
    return clock.hz > 0 ? uint64_t(std::min(length_ns * clock.hz / 1e9, 0x1p62)) : 0;
}

int64_t start_unix_ns(const TraceFile &trace)
{
    constexpr uint64_t kMostNs = std::numeric_limits<int64_t>::max();
    const std::string text = trace.info("session.start_unix_ns");
    int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error == std::errc() && ns > 0)
        return ns;
    const uint64_t created_ns = trace.header().created_unix_ns;
    return trace.is_header_damaged() || created_ns > kMostNs ? 0 : int64_t(created_ns);
}
} // namespace nsdump
