// SPDX-License-Identifier: MIT
// Node group (class NodeGroup): nodes of one function that run in one pass.
#include "engine/node/node_group.hpp"

#include "engine/packet_path/slices.hpp"

namespace mapi::engine
{
NodeGroup::NodeGroup(Nodes nodes)
    : nodes_(std::move(nodes)), passed_(nodes_.size()),
      slice_(slice_of(nodes_.front()->function().name))
{
    std::vector<void *> instances;
    for (const auto &node : nodes_) {
        places_.emplace(node.get(), uint32_t(instances.size()));
        instances.push_back(node->instance());
    }
    if (function().group->create(instances.data(), uint32_t(instances.size()), &group_) != 0)
        group_ = nullptr;
}

NodeGroup::~NodeGroup()
{
    if (group_)
        function().group->destroy(group_);
}
} // namespace mapi::engine
