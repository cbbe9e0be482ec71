// SPDX-License-Identifier: MIT
// Chain: the functions of one flow in order.
#include "engine/chain.hpp"

#include <algorithm>

#include "engine/plan.hpp"
#include "engine/wall_clock.hpp"

namespace mapi::engine
{
Applied::Applied(std::shared_ptr<Node> n)
    : node(std::move(n)), result(Published::words_for(node->result_bytes()))
{
    results.res = result.data();
    results.size = int(node->result_bytes());
}

int Chain::count_transforms() const
{
    return int(std::count_if(functions_.begin(), functions_.end(), [](const auto &applied) { return applied->node->transforms(); }));
}

void Chain::activate(const Plan &plan)
{
    use_shared_nodes(plan);
    start_us_ = now_us();
    status_.store(FLOW_ACTIVE, std::memory_order_release); // pairs with status(): the functions are fixed
}

// The same function with the same arguments that gets the same mask is evaluated once, whoever applied it.
void Chain::use_shared_nodes(const Plan &plan)
{
    const Node *source = nullptr; // the node whose mask comes in here; null: the whole batch
    for (size_t i = 0; i < functions_.size(); ++i) {
        std::shared_ptr<Node> &node = functions_[i]->node;
        std::shared_ptr<Node> shared = plan.find(source, *node);
        for (size_t k = 0; k < i && !shared; ++k) {
            if (functions_[k]->node->can_serve(source, *node))
                shared = functions_[k]->node;
        }
        if (shared)
            node = std::move(shared);
        else
            node->set_source(source);
        if (!node->passes_all())
            source = node.get();
    }
}

void Chain::join()
{
    if (joined_.load(std::memory_order_relaxed))
        return;
    for (const auto &applied : functions_) {
        const Node &node = *applied->node;
        applied->base_seen = node.seen();
        applied->base_passed = node.passed();
        if (node.is_additive())
            applied->base_result = node.published().first_word();
    }
    joined_.store(true, std::memory_order_release); // pairs with has_joined(): the bases are set
}

// Nodes that other flows share go on.
void Chain::end()
{
    if (is_ending_.exchange(true))
        return;
    for (const auto &applied : functions_) {
        if (!applied->node->is_shareable())
            applied->node->end();
    }
    end_us_ = now_us();
    has_ended_.store(true, std::memory_order_release);
}

bool Chain::settle()
{
    if (!has_ended() || !std::all_of(functions_.begin(), functions_.end(), [](const auto &applied) { return applied->node->is_settled(); }))
        return false;
    mapi_flow_status active = FLOW_ACTIVE; // unless it was closed meanwhile
    status_.compare_exchange_strong(active, FLOW_FINISHED);
    return true;
}

void Chain::cancel()
{
    for (const auto &applied : functions_) {
        if (!applied->node->is_shareable())
            applied->node->cancel();
    }
}
} // namespace mapi::engine
