// SPDX-License-Identifier: MIT
// ctf: the clock of a trace -> the clock description of CTF.
#include "export/ctf/ctf_clock.hpp"

#include <cmath>

#include "decode/clock.hpp"

namespace nsdump
{
CtfClock ctf_clock_of(const TraceFile &trace)
{
    constexpr double kMostHz = 1e12;
    constexpr uint64_t kNsPerS = 1'000'000'000;
    CtfClock out;
    const Clock clock = clock_of(trace);
    out.is_rate_known = clock.hz >= 1 && clock.hz <= kMostHz;
    if (out.is_rate_known)
        out.hz = uint64_t(std::llround(clock.hz));
    const auto began_ns = uint64_t(start_unix_ns(trace));
    if (began_ns == 0 || clock.start_ticks == 0)
        return out;
    const uint64_t since_ticks = began_ns % kNsPerS * out.hz / kNsPerS;
    out.offset_s = int64_t(began_ns / kNsPerS) - int64_t(clock.start_ticks / out.hz);
    const uint64_t start_part = clock.start_ticks % out.hz;
    if (since_ticks < start_part)
        --out.offset_s;
    out.offset =
        since_ticks < start_part ? since_ticks + out.hz - start_part : since_ticks - start_part;
    return out;
}
} // namespace nsdump
