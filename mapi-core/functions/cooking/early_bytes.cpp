// SPDX-License-Identifier: MIT
#include "functions/cooking/early_bytes.hpp"

#include <algorithm>
#include <utility>

#include "functions/cooking/acks.hpp"

namespace mapi::cooking
{
// All positions lie within kDistanceMost, so that their numbers are ordered.
size_t EarlyBytes::put(uint32_t sequence, std::span<const uint8_t> bytes)
{
    const uint32_t end = sequence + uint32_t(bytes.size());
    std::vector<Run> added;
    uint32_t at = sequence;
    const auto add_until = [&](uint32_t stop) {
        const auto part = bytes.subspan(at - sequence, stop - at);
        added.push_back({at, {part.begin(), part.end()}});
        at = stop;
    };
    for (const Run &run : runs_) {
        if (at == end)
            break;
        if (is_after(run.sequence, at))
            add_until(is_after(end, run.sequence) ? run.sequence : end);
        if (is_after(run.end(), at) && at != end)
            at = is_after(end, run.end()) ? run.end() : end;
    }
    if (at != end)
        add_until(end);
    size_t kept = 0;
    for (Run &run : added) {
        kept += run.bytes.size();
        runs_.push_back(std::move(run));
    }
    std::sort(runs_.begin(), runs_.end(),
              [](const Run &a, const Run &b) { return is_after(b.sequence, a.sequence); });
    held_bytes_ += kept;
    return kept;
}

EarlyBytes::Run EarlyBytes::take_last()
{
    size_t begin = runs_.size() - 1;
    while (begin > 0 && runs_[begin - 1].end() == runs_[begin].sequence)
        --begin;
    Run run = std::move(runs_[begin]);
    for (size_t i = begin + 1; i < runs_.size(); ++i)
        run.bytes.insert(run.bytes.end(), runs_[i].bytes.begin(), runs_[i].bytes.end());
    runs_.resize(begin);
    held_bytes_ -= run.bytes.size();
    return run;
}

void EarlyBytes::forget()
{
    runs_.clear();
    held_bytes_ = 0;
}
} // namespace mapi::cooking
