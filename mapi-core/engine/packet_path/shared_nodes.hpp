// SPDX-License-Identifier: MIT
// Shared nodes: a function that a new flow applies -> the node of a connected flow that already
// does the same with the same packets.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_set>

#include "engine/node/node.hpp"

namespace mapi::engine
{
// Under the device's lock.  The nodes are those of one plan, which keeps them alive, and of flows
// that are about to be in it.
class SharedNodes
{
public:
    // The node equivalent to `wanted` with the mask of `source`, or null.
    std::shared_ptr<Node> find(const Node *source, const Node &wanted) const;
    // Its source is set.  Has no effect if the node cannot be shared.
    void add(Node &node);

private:
    // What is looked for, and what is found.
    struct Place {
        const Node *source;
        Node *node;
    };
    struct Hash {
        size_t operator()(const Place &place) const;
    };
    struct IsEquivalent {
        bool operator()(const Place &one, const Place &other) const
        {
            return one.node == other.node || one.node->can_serve(other.source, *other.node) ||
                   other.node->can_serve(one.source, *one.node);
        }
    };

    std::unordered_set<Place, Hash, IsEquivalent> places_;
};
} // namespace mapi::engine
