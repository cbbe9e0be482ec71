// SPDX-License-Identifier: MIT
// Retries: when to try again what may fail for long.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nsbpf
{
// The first at once; while they follow each other, later and later ones.
class Retries
{
public:
    static constexpr uint64_t kLeastMs = 10, kMostMs = 1000;

    // Whether to try now; false: it is too early.
    bool is_due(uint64_t now_ms)
    {
        if (now_ms < next_ms_)
            return false;
        const bool has_been_well = now_ms - next_ms_ >= kMostMs;
        pause_ms_ = has_been_well ? kLeastMs : std::min(2 * pause_ms_, kMostMs);
        next_ms_ = now_ms + pause_ms_;
        return true;
    }

private:
    uint64_t next_ms_ = 0, pause_ms_ = kLeastMs;
};
} // namespace nsbpf
