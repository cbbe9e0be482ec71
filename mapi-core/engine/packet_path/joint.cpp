// SPDX-License-Identifier: MIT
// Node group (class Joint): nodes of one function that run in one pass.
#include "engine/packet_path/joint.hpp"

#include "engine/packet_path/slices.hpp"

namespace mapi::engine
{
Joint::Joint(Nodes nodes) : nodes_(std::move(nodes)), passed_(nodes_.size()), slice_(slice_of(nodes_.front()->function().name))
{
    std::vector<void *> instances;
    for (const auto &node : nodes_) {
        places_.emplace(node.get(), uint32_t(instances.size()));
        instances.push_back(node->instance());
    }
    if (function().joint_create(instances.data(), uint32_t(instances.size()), &joint_) != 0)
        joint_ = nullptr;
}

Joint::~Joint()
{
    if (joint_)
        function().joint_destroy(joint_);
}
} // namespace mapi::engine
