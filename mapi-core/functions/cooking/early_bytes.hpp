// SPDX-License-Identifier: MIT
// Early bytes: segments that precede the first one seen, in any order -> runs of contiguous bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mapi::cooking
{
// A capture that starts within a stream may contain a later segment first.
class EarlyBytes
{
public:
    static constexpr uint32_t kDistanceMost = 256u << 10; // from the first one
    static constexpr size_t kRunsMost = 128;
    static constexpr size_t kRunCost = 128; // in addition to its bytes

    struct Run {
        uint32_t sequence = 0;
        std::vector<uint8_t> bytes;
        uint32_t end() const { return sequence + uint32_t(bytes.size()); }
    };

    // Returns how many of these bytes are new and have been kept.
    size_t put(uint32_t sequence, std::span<const uint8_t> bytes);

    bool is_empty() const { return runs_.empty(); }
    bool is_full() const { return runs_.size() >= kRunsMost; }
    bool reaches(uint32_t first) const { return !runs_.empty() && runs_.back().end() == first; }
    size_t held_bytes() const { return held_bytes_; }
    size_t cost() const { return held_bytes_ + runs_.size() * kRunCost; }
    // The last contiguous run; requires that there are any bytes.
    Run take_last();
    void forget();

private:
    std::vector<Run> runs_; // in order
    size_t held_bytes_ = 0;
};
} // namespace mapi::cooking
