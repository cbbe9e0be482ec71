// SPDX-License-Identifier: MIT
// decode: what a command asks for -> the spans of time whose records it has to read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace nsdump
{
// Both ends belong to it.
struct TickRange {
    uint64_t from_ticks = 0;
    uint64_t to_ticks = std::numeric_limits<uint64_t>::max();

    bool contains(uint64_t ticks) const { return from_ticks <= ticks && ticks <= to_ticks; }
    bool is_empty() const { return from_ticks > to_ticks; }
};

// How long before a range of time reading begins: a slice that began earlier has no START there.
inline constexpr double kLeadInNs = 100e6;

// Chunks outside of the windows are not read.  What has its end in `selected` is asked for; the
// windows begin earlier, so that slices are read from their START.
class ReadPlan
{
public:
    // `spans` in any order; those that touch or overlap become one window.
    ReadPlan(TickRange selected, uint64_t lead_in_ticks, std::vector<TickRange> spans)
        : selected_(selected)
    {
        for (TickRange &span : spans) {
            span.from_ticks = std::max(span.from_ticks, selected.from_ticks);
            span.to_ticks = std::min(span.to_ticks, selected.to_ticks);
        }
        std::erase_if(spans, [](const TickRange &span) { return span.is_empty(); });
        std::sort(spans.begin(), spans.end(), [](const TickRange &a, const TickRange &b) {
            return a.from_ticks < b.from_ticks;
        });
        for (TickRange span : spans) {
            span.from_ticks -= std::min(span.from_ticks, lead_in_ticks);
            if (!windows_.empty() && span.from_ticks <= windows_.back().to_ticks)
                windows_.back().to_ticks = std::max(windows_.back().to_ticks, span.to_ticks);
            else
                windows_.push_back(span);
        }
    }
    // All of a range of time.
    ReadPlan(TickRange selected, uint64_t lead_in_ticks)
        : ReadPlan(selected, lead_in_ticks, {selected})
    {
    }

    const TickRange &selected() const { return selected_; }
    // Ascending, with gaps between them; none if nothing is to be read.
    const std::vector<TickRange> &windows() const { return windows_; }

private:
    TickRange selected_;
    std::vector<TickRange> windows_;
};
} // namespace nsdump
