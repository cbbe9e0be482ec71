// SPDX-License-Identifier: MIT
// Exporter clock: flows, in the order of their ends -> the start of the clock that their times in
// milliseconds refer to.
#pragma once

#include <cstdint>
#include <optional>

namespace mapi::functions
{
// FIRST_SWITCHED, LAST_SWITCHED and sysUpTime of a message count milliseconds in 32 bits, which
// overflow after 49.7 days, and collectors subtract them without regard to a wrap.  The clock
// therefore restarts, like that of a restarted exporter, before half of the range is used, and when
// a flow is older than the clock.  It starts at a whole second, since nfacctd truncates both times
// to seconds before it adds them.
class ExporterClock
{
public:
    uint64_t boot_ns(uint64_t first_ns, uint64_t ended_ns)
    {
        if (!boot_ns_ || first_ns < *boot_ns_ || ended_ns - *boot_ns_ > kLongestNs)
            boot_ns_ = first_ns > kLeadNs ? (first_ns - kLeadNs) / kNsPerSecond * kNsPerSecond : 0;
        return *boot_ns_;
    }

private:
    static constexpr uint64_t kNsPerSecond = 1'000'000'000;
    static constexpr uint64_t kLongestNs = (uint64_t{1} << 31) * 1'000'000;
    static constexpr uint64_t kLeadNs =
        60'000'000'000; // for flows that end later but began earlier

    std::optional<uint64_t> boot_ns_;
};
} // namespace mapi::functions
