// SPDX-License-Identifier: MIT
// Plan: the connected flows of a device, compiled -> the distinct functions in an order in which each finds its input ready.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <mapi/function.h>

#include "engine/node.hpp"

namespace mapi::engine
{
class Chain;

// Never changed after it was made; connect and close make a new one.  Its masks are scratch memory of the device's thread.
class Plan
{
public:
    explicit Plan(std::vector<std::shared_ptr<Chain>> chains);

    // Device's thread.  join() once, before the first run(): flows that are new note where the shared counters stand.
    void join();
    void run(const mapi_batch &batch);
    void publish();

    bool has_joined() const { return joined_; }
    const std::vector<std::shared_ptr<Chain>> &chains() const { return chains_; }
    // The node that does what `wanted` would do with the mask of `source`, or null.
    std::shared_ptr<Node> find(const Node *source, const Node &wanted) const;
    mapi_function_drops drops() const;

private:
    struct Step {
        Node *node;
        uint32_t input; // index into masks_
    };

    const std::vector<std::shared_ptr<Chain>> chains_;
    std::vector<std::shared_ptr<Node>> nodes_; // sources before those that use them
    std::vector<Step> steps_;
    std::vector<Node *> results_; // nodes with something to publish
    std::vector<uint64_t> masks_; // 0: the whole batch, i + 1: what step i let pass
    bool joined_ = false;
};
} // namespace mapi::engine
