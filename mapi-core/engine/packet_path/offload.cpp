// SPDX-License-Identifier: MIT
// Offload: nodes -> a program of the driver -> counts of the nodes.
#include "engine/packet_path/offload.hpp"

#include <algorithm>
#include <utility>

namespace mapi::engine
{
namespace
{
mapi_offload_count growth(const mapi_offload_count &now, const mapi_offload_count &before)
{
    return {now.packets - before.packets, now.wire_bytes - before.wire_bytes, {}};
}
} // namespace

OffloadProgram::~OffloadProgram()
{
    if (program_)
        target_.driver->destroy(target_.source, program_);
}

uint32_t OffloadProgram::add(Node &node, uint32_t source, const mapi_offload_step &step)
{
    mapi_offload_node entry = {};
    entry.step = step;
    entry.source = source;
    entry.state = node.state_number();
    entries_.push_back(entry);
    nodes_.push_back(&node);
    return uint32_t(entries_.size() - 1);
}

void OffloadProgram::want_packets(uint32_t node, uint32_t bytes)
{
    uint32_t &wanted = node == MAPI_OFFLOAD_ALL ? all_bytes_ : entries_[node].wants_bytes;
    wanted = std::max(wanted, bytes);
    if (node != MAPI_OFFLOAD_ALL)
        entries_[node].wants_packets = 1;
}

void OffloadProgram::prepare()
{
    counts_.resize(entries_.size() + 1);
    counted_.resize(entries_.size() + 1);
    program_ = target_.driver->prepare(target_.source, entries_.data(), uint32_t(entries_.size()),
                                       all_bytes_);
}

const char *OffloadProgram::reason(uint32_t node) const
{
    return entries_[node].reason ? entries_[node].reason : kFollowsEngine;
}

mapi_offload_count OffloadProgram::collect()
{
    target_.driver->count(target_.source, program_, counts_.data());
    for (size_t at = 0; at < nodes_.size(); ++at) {
        if (entries_[at].is_taken)
            collect(*nodes_[at], counts_[at], std::exchange(counted_[at], counts_[at]));
    }
    const mapi_offload_count before = std::exchange(counted_.back(), counts_.back());
    return growth(counts_.back(), before);
}

// The state may change by itself: the driver reads it after the counts.
void OffloadProgram::collect(Node &node, const mapi_offload_count &now,
                             const mapi_offload_count &before)
{
    if (const mapi_offload_count passed = growth(now, before); passed.packets > 0)
        node.add_offloaded(passed);
    if (now.state.last_time_ns != before.state.last_time_ns ||
        now.state.last_wire_bytes != before.state.last_wire_bytes ||
        now.state.received != before.state.received)
        node.follow_offloaded(now.state);
}
} // namespace mapi::engine
