// SPDX-License-Identifier: MIT
// export: slices in the order of their STOPs -> trees on lanes.
#include "export/timeline/nested_slices.hpp"

#include <algorithm>

namespace nsdump
{
namespace
{
bool is_inside(const TimelineSlice &inner, const TimelineSlice &outer)
{
    return inner.depth > outer.depth && inner.start_ns >= outer.start_ns &&
           inner.stop_ns <= outer.stop_ns;
}

bool stops_before(const TimelineSlice &a, const TimelineSlice &b)
{
    return a.stop_ns < b.stop_ns || (a.stop_ns == b.stop_ns && a.depth > b.depth);
}
} // namespace

void NestedSlices::add(const TimelineSlice &slice)
{
    has_late_ |= !pending_.empty() && slice.stop_ns < pending_.back().stop_ns;
    pending_.push_back(slice);
}

// Depths and the order of STOPs give the trees, so slices without any duration need no decision by
// time.
void NestedSlices::link()
{
    if (has_late_)
        std::stable_sort(pending_.begin(), pending_.end(), stops_before);
    has_late_ = false;
    roots_.clear();
    first_child_.assign(pending_.size(), kNone);
    next_sibling_.assign(pending_.size(), kNone);
    crossed_.clear();
    for (uint32_t at = 0; at < pending_.size(); ++at) {
        if (pending_[at].is_crossed) {
            crossed_.push_back(at);
            continue;
        }
        while (!roots_.empty() && is_inside(pending_[roots_.back()], pending_[at])) {
            const uint32_t last = roots_.back();
            next_sibling_[last] = first_child_[at];
            first_child_[at] = last;
            roots_.pop_back();
        }
        roots_.push_back(at);
    }
}

// How many of the pending slices to write: whole trees, and at least one.
size_t NestedSlices::ready(size_t keep) const
{
    const size_t until = pending_.size() - std::min(keep, pending_.size());
    if (roots_.empty())
        return until > 0 ? until : pending_.size();
    const auto end = std::lower_bound(roots_.begin(), roots_.end(), until);
    if (end == roots_.end() && keep == 0)
        return pending_.size();
    return (end == roots_.begin() ? roots_.front() : end[-1]) + 1;
}

// On the main lane, without crossing a tree written there, or beginning with one of those inside.
bool NestedSlices::fits(const TimelineSlice &root) const
{
    for (size_t depth = 0; depth < levels_.size(); ++depth) {
        const Level &level = levels_[depth];
        const bool is_after = level.last_stop_ns <= root.start_ns;
        const bool is_around = depth > root.depth && level.first_start_ns > root.start_ns &&
                               level.last_stop_ns <= root.stop_ns;
        if (!is_after && !is_around)
            return false;
    }
    return true;
}

void NestedSlices::note(const TimelineSlice &root)
{
    if (levels_.size() <= root.depth)
        levels_.resize(root.depth + 1);
    Level &own = levels_[root.depth];
    own.first_start_ns = std::min(own.first_start_ns, root.start_ns);
    own.last_stop_ns = root.stop_ns;
    for (size_t depth = root.depth + 1; depth < levels_.size(); ++depth)
        own.first_start_ns = std::min(own.first_start_ns, levels_[depth].first_start_ns);
    levels_.resize(root.depth + 1);
}

// Recursion is as deep as slices are nested, which the pairer limits.
void NestedSlices::write_tree( // NOLINT(misc-no-recursion)
    size_t lane, uint32_t at, const TimelineSlice *parent, LaneSink &sink)
{
    const TimelineSlice &slice = pending_[at];
    sink.begin(lane, slice, parent);
    uint64_t last_stop_ns = slice.start_ns;
    for (uint32_t child = first_child_[at]; child != kNone; child = next_sibling_[child]) {
        if (pending_[child].start_ns < last_stop_ns) { // the clock went backwards
            write_aside(child, sink);
            continue;
        }
        last_stop_ns = pending_[child].stop_ns;
        write_tree(lane, child, &slice, sink);
    }
    sink.end(lane, slice);
}

void NestedSlices::write_aside(uint32_t at, LaneSink &sink) // NOLINT(misc-no-recursion)
{
    const TimelineSlice &slice = pending_[at];
    size_t lane = 0;
    while (lane < lane_stops_ns_.size() && lane_stops_ns_[lane] > slice.start_ns)
        ++lane;
    if (lane == kMaxLanes) {
        left_out_ += tree_size(at);
        return;
    }
    if (lane == lane_stops_ns_.size())
        lane_stops_ns_.push_back(0);
    lane_stops_ns_[lane] = slice.stop_ns;
    write_tree(lane + 1, at, nullptr, sink);
}

uint64_t NestedSlices::tree_size(uint32_t at) const // NOLINT(misc-no-recursion)
{
    uint64_t slices = 1;
    for (uint32_t child = first_child_[at]; child != kNone; child = next_sibling_[child])
        slices += tree_size(child);
    return slices;
}

void NestedSlices::flush(size_t keep, LaneSink &sink)
{
    if (pending_.empty())
        return;
    link();
    const size_t count = ready(keep);
    for (const uint32_t at : crossed_)
        if (at < count)
            write_aside(at, sink);
    for (const uint32_t at : roots_) {
        if (at >= count)
            break;
        if (fits(pending_[at])) {
            note(pending_[at]);
            write_tree(0, at, nullptr, sink);
        } else {
            write_aside(at, sink);
        }
    }
    pending_.erase(pending_.begin(), pending_.begin() + ptrdiff_t(count));
}
} // namespace nsdump
