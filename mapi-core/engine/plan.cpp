// SPDX-License-Identifier: MIT
// Plan: the connected flows of a device, compiled.
#include "engine/plan.hpp"

#include <unordered_map>

#include "engine/chain.hpp"

namespace mapi::engine
{
Plan::Plan(std::vector<std::shared_ptr<Chain>> chains) : chains_(std::move(chains))
{
    std::unordered_map<const Node *, uint32_t> outputs = {{nullptr, 0}};
    for (const auto &chain : chains_) {
        for (const auto &applied : chain->functions()) {
            const std::shared_ptr<Node> &node = applied->node;
            if (!outputs.try_emplace(node.get(), uint32_t(nodes_.size() + 1)).second)
                continue;
            nodes_.push_back(node);
            steps_.push_back({node.get(), outputs.at(node->source())});
            if (node->has_result())
                results_.push_back(node.get());
        }
    }
    masks_.resize(nodes_.size() + 1);
}

void Plan::join()
{
    for (const auto &chain : chains_)
        chain->join();
    joined_ = true;
}

void Plan::run(const mapi_batch &batch)
{
    const uint64_t *const masks = masks_.data();
    uint64_t *output = masks_.data();
    *output = batch.all;
    for (const Step &step : steps_) {
        const uint64_t input = masks[step.input];
        *++output = input == 0 ? 0 : step.node->run(batch, input);
    }
}

void Plan::publish()
{
    for (Node *node : results_)
        node->publish();
}

std::shared_ptr<Node> Plan::find(const Node *source, const Node &wanted) const
{
    for (const auto &node : nodes_) {
        if (node->can_serve(source, wanted))
            return node;
    }
    return nullptr;
}

mapi_function_drops Plan::drops() const
{
    mapi_function_drops sum = {};
    for (const auto &node : nodes_) {
        const mapi_function_drops drops = node->drops();
        sum.buffer_full += drops.buffer_full;
        sum.link_type += drops.link_type;
    }
    return sum;
}
} // namespace mapi::engine
