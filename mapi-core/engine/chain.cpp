// SPDX-License-Identifier: MIT
// Chain: the functions of one flow in order.
#include "engine/chain.hpp"

#include <algorithm>

#include "engine/plan.hpp"
#include "engine/wall_clock.hpp"
#include "ring/futex.hpp"

namespace mapi::engine
{
Applied::Applied(std::shared_ptr<Node> n)
    : node(std::move(n)), result(Published::words_for(node->result_bytes()))
{
    results.res = result.data();
    results.size = int(node->result_bytes());
    if (const RingMemory *ring = node->ring())
        records = std::make_unique<ring::RecordSource>(ring->writer().pages(), ring->reader_returns());
}

void Applied::make_mirror(const std::shared_ptr<Arena> &arena)
{
    if (!node->has_published_result())
        return;
    mirror_memory = ArenaBlock(arena, Arena::Side::kEngine, Published::memory_bytes(node->result_bytes()));
    mirror = Published(mirror_memory.memory(), node->result_bytes());
    mirror.publish(node->result_words());
}

void Applied::publish_mirror()
{
    if (mirror.bytes() > sizeof(uint64_t))
        return mirror.publish(node->result_words());
    const uint64_t value = share_of(node->first_word());
    mirror.publish(&value);
}

uint64_t Applied::share_of(uint64_t first_word) const
{
    return node->is_pure() && node->seen() == base_seen ? 0 : first_word - base_result;
}

Chain::Chain(std::shared_ptr<Arena> arena) : arena_(std::move(arena))
{
    if (!arena_->is_shared())
        return;
    status_memory_ = ArenaBlock(arena_, Arena::Side::kEngine, sizeof(*shown_status_));
    shown_status_ = new (status_memory_.memory()) std::atomic<uint32_t>(FLOW_INIT);
}

void Chain::append(std::shared_ptr<Node> node)
{
    auto applied = std::make_unique<Applied>(std::move(node));
    if (arena_->is_shared())
        applied->make_mirror(arena_); // may fail: then the flow has no more functions than before
    functions_.push_back(std::move(applied));
}

void Chain::show_status()
{
    if (!shown_status_)
        return;
    shown_status_->store(status_);
    ring::wake(*shown_status_);
}

void Chain::close()
{
    status_ = FLOW_CLOSED;
    show_status();
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
    show_status();
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
    begun_->store(1, std::memory_order_release);    // pairs with mapi_flow_has_begun()
}

// Nodes that other flows share go on.
void Chain::end()
{
    if (is_ending_.exchange(true))
        return;
    for (const auto &applied : functions_) {
        if (!applied->node->is_shareable())
            applied->node->end();
        if (applied->mirror.bytes() > 0)
            applied->publish_mirror();
    }
    end_us_ = now_us();
    has_ended_.store(true, std::memory_order_release);
    if (!settle() && on_end_)
        on_end_();
}

bool Chain::settle()
{
    if (!has_ended() || !std::all_of(functions_.begin(), functions_.end(), [](const auto &applied) { return applied->node->is_settled(); }))
        return false;
    mapi_flow_status active = FLOW_ACTIVE; // unless it was closed meanwhile
    if (status_.compare_exchange_strong(active, FLOW_FINISHED))
        show_status();
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
