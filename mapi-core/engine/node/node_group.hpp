// SPDX-License-Identifier: MIT
// Node group (class NodeGroup): nodes of one function that run in one pass.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <mapi/function.h>
#include <nsprobe/probe.h>

#include "engine/node/node.hpp"

namespace mapi::engine
{
// Fewer nodes are not worth a group.  One that knows which nodes get a packet saves work from the
// second node on.
inline size_t fewest_in_group(const mapi_function &function)
{
    return function.group->process_inputs ? 2 : 8;
}

class NodeGroup
{
public:
    using Nodes = std::vector<std::shared_ptr<Node>>;

    // Client's thread; may take long, so no lock should be held.  All nodes have the same function,
    // and the same source unless it joins any masks.
    explicit NodeGroup(Nodes nodes);
    ~NodeGroup();
    NodeGroup(const NodeGroup &) = delete;
    NodeGroup &operator=(const NodeGroup &) = delete;

    // False if the function prefers to run these nodes one after the other.
    bool is_useful() const { return group_ != nullptr; }
    const mapi_function &function() const { return nodes_.front()->function(); }
    const Nodes &nodes() const { return nodes_; }
    bool has(const Node *node) const { return places_.contains(node); }

    // Device's thread: the packets of `mask` that each node lets pass, by its index in nodes();
    // nodes that let nothing pass are left out.
    std::span<const mapi_group_passed> run(const mapi_batch &batch, uint64_t mask)
    {
        NET_SLICE_START_AT(slice_);
        const uint32_t count = function().group->process(group_, &batch, mask, passed_.data());
        NET_SLICE_STOP_AT(slice_);
        return {passed_.data(), count};
    }

    // Whether run() with the nodes' inputs is the way to run it.
    bool wants_inputs() const { return function().group->process_inputs != nullptr; }
    // Device's thread: as above, of packets that each node gets.
    std::span<const mapi_group_passed> run(const mapi_batch &batch, const mapi_group_inputs &inputs)
    {
        NET_SLICE_START_AT(slice_);
        const uint32_t count =
            function().group->process_inputs(group_, &batch, &inputs, passed_.data());
        NET_SLICE_STOP_AT(slice_);
        return {passed_.data(), count};
    }

    bool can_prefilter() const { return function().group->prefilter != nullptr; }
    // Any thread.  The packets of the batch that any node may let pass; false if only run() can
    // determine them.
    bool prefilter(const mapi_batch &batch, uint64_t &possible) const
    {
        return function().group->prefilter(group_, &batch, &possible) != 0;
    }

private:
    const Nodes nodes_; // including those whose flows have been closed since
    std::unordered_map<const Node *, uint32_t> places_;
    std::vector<mapi_group_passed> passed_;
    void *group_ = nullptr;
    struct nsp_slice *const slice_;
};
} // namespace mapi::engine
