// SPDX-License-Identifier: MIT
// Exporter clock: flows, in the order of their ends -> when the clock began whose milliseconds tell their times.
#pragma once

#include <cstdint>
#include <optional>

namespace mapi::functions
{
// FIRST_SWITCHED, LAST_SWITCHED and a message's sysUpTime count milliseconds in 32 bits, which 49.7 days fill; collectors that take the
// difference of two of them see nothing of a wrap.  So the clock begins anew, as that of an exporter that was started again, before half of
// them are full, and where a flow is older than it.  It begins with a second, since nfacctd adds seconds that it has cut from both.
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
    static constexpr uint64_t kLeadNs = 60'000'000'000; // for flows that end later but began earlier

    std::optional<uint64_t> boot_ns_;
};
} // namespace mapi::functions
