// SPDX-License-Identifier: MIT
// Shared nodes: an index of the nodes of a device.
#include "engine/packet_path/shared_nodes.hpp"

namespace mapi::engine
{
size_t SharedNodes::Hash::operator()(const Place &place) const
{
    constexpr size_t kSpread = 0x9e3779b97f4a7c15;
    size_t hash = place.node->arguments().hash();
    hash = (hash ^ std::hash<const void *>()(place.source)) * kSpread;
    hash = (hash ^ std::hash<const void *>()(&place.node->function())) * kSpread;
    return hash ^ hash >> 32;
}

std::shared_ptr<Node> SharedNodes::find(const Node *source, const Node &wanted) const
{
    if (!wanted.traits().is_shareable())
        return nullptr;
    const auto found = places_.find({source, const_cast<Node *>(&wanted)}); // it is only read
    return found == places_.end() ? nullptr : found->node->shared_from_this();
}

void SharedNodes::add(Node &node)
{
    if (node.traits().is_shareable())
        places_.insert({node.source(), &node});
}
} // namespace mapi::engine
