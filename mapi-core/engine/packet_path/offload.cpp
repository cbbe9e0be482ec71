// SPDX-License-Identifier: MIT
// Offload: nodes -> a program of the driver -> counts of the nodes.
#include "engine/packet_path/offload.hpp"

#include <utility>

namespace mapi::engine
{
OffloadProgram::~OffloadProgram()
{
    if (program_)
        target_.driver->destroy(target_.source, program_);
}

uint32_t OffloadProgram::add(Node &node, uint32_t source)
{
    mapi_offload_node entry = {};
    entry.source = source;
    if (!node.describe(target_.link_type, entry.step))
        return MAPI_OFFLOAD_ALL;
    entries_.push_back(entry);
    nodes_.push_back(&node);
    return uint32_t(entries_.size() - 1);
}

void OffloadProgram::want_packets(uint32_t node)
{
    if (node == MAPI_OFFLOAD_ALL)
        wants_all_ = true;
    else
        entries_[node].wants_packets = 1;
}

void OffloadProgram::prepare()
{
    counts_.resize(entries_.size() + 1);
    counted_.resize(entries_.size() + 1);
    program_ = target_.driver->prepare(target_.source, entries_.data(), uint32_t(entries_.size()),
                                       wants_all_);
}

const char *OffloadProgram::reason(uint32_t node) const
{
    return entries_[node].reason ? entries_[node].reason : kFollowsEngine;
}

mapi_offload_count OffloadProgram::collect()
{
    target_.driver->count(target_.source, program_, counts_.data());
    const auto growth = [&](size_t at) {
        const mapi_offload_count before = std::exchange(counted_[at], counts_[at]);
        return mapi_offload_count{counts_[at].packets - before.packets,
                                  counts_[at].wire_bytes - before.wire_bytes};
    };
    for (size_t at = 0; at < nodes_.size(); ++at) {
        if (!entries_[at].is_taken)
            continue;
        const mapi_offload_count passed = growth(at);
        if (passed.packets > 0)
            nodes_[at]->add_offloaded(passed);
    }
    return growth(nodes_.size());
}
} // namespace mapi::engine
