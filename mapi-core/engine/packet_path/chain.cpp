// SPDX-License-Identifier: MIT
// Chain: the functions of one flow in order.
#include "engine/packet_path/chain.hpp"

#include <algorithm>

#include "engine/error.hpp"
#include "engine/packet_path/shared_nodes.hpp"
#include "engine/wall_clock.hpp"
#include "ring/futex.hpp"

namespace mapi::engine
{
Applied::Applied(std::shared_ptr<Node> n)
    : node(std::move(n)), charge(node->take_quota_use()),
      result(Published::words_for(node->output().bytes())),
      is_share_of_word(result.size() == 1 && !node->traits().reads_result() &&
                       !node->output().is_composed()),
      composed(node->function())
{
    results.res = result.data();
    results.size = int(node->output().bytes());
    if (const RingMemory *ring = node->output().ring())
        records =
            std::make_unique<ring::RecordSource>(ring->writer().pages(), ring->reader_returns());
}

void Applied::make_mirror(const std::shared_ptr<Arena> &arena)
{
    if (!node->output().has_published_result())
        return;
    mirror_memory =
        ArenaBlock(arena, Arena::Side::kEngine, Published::memory_bytes(node->output().bytes()));
    mirror = Published(mirror_memory.memory(), node->output().bytes());
    mirror.publish(node->output().words());
}

void Applied::publish_mirror()
{
    if (mirror.bytes() > sizeof(uint64_t))
        return mirror.publish(node->output().words());
    const uint64_t value = share();
    mirror.publish(&value);
}

uint64_t Applied::share() const
{
    const uint64_t base = base_result.load(std::memory_order_acquire);
    return node->traits().is_pure() && seen() == 0 ? 0
                                                   : node->output().published().first_word() - base;
}

uint64_t Applied::seen() const
{
    const uint64_t base = base_seen.load(std::memory_order_acquire);
    return node->seen() - base;
}

uint64_t Applied::passed() const
{
    const uint64_t base = base_passed.load(std::memory_order_acquire);
    return node->passed() - base;
}

bool Applied::has_left()
{
    if (is_removed || !records ||
        !(node->output().has_packets_in_ring() || node->output().has_results_in_ring()))
        return false;
    const bool need_not_read = !node->output().has_packets_in_ring();
    if (is_read_elsewhere)
        return node->output().ring()->writer().has_left(need_not_read);
    const auto lock = records->lock();
    return records->has_left(need_not_read);
}

void Applied::rebase()
{
    base_seen.store(node->seen(), std::memory_order_release);
    base_passed.store(node->passed(), std::memory_order_release);
    if (node->traits().is_additive())
        base_result.store(node->output().published().first_word(), std::memory_order_release);
    for (Metered &function : metered)
        function.base = function.node->meter_sum();
    if (meter_begin)
        base_metered_packets = meter_begin->seen();
}

void Applied::show_measured(const Meter &meter)
{
    MeterSum sum = {};
    for (const Metered &function : metered)
        add(sum, function.node->meter_sum(), function.base);
    meter.describe(sum, node->measured());
    node->measured().packets = meter_begin->seen() - base_metered_packets;
}

// A shared function continues unchanged for other flows.
void Applied::reset()
{
    rebase();
    if (!node->traits().is_shareable())
        node->reset();
    if (mirror.bytes() > 0)
        publish_mirror();
}

mapi_function_drops Applied::drops(bool has_joined) const
{
    if (!node->traits().is_shareable())
        return node->drops();
    if (!has_joined)
        return {};
    mapi_function_drops drops = node->drops();
    drops.buffer_full -= base_drops.buffer_full;
    drops.link_type -= base_drops.link_type;
    drops.not_written -= base_drops.not_written;
    drops.unread_headers -= base_drops.unread_headers;
    drops.given_up -= base_drops.given_up;
    return drops;
}

Chain::Chain(std::shared_ptr<Arena> arena, std::shared_ptr<FlowDrops> drops)
    : arena_(std::move(arena)), drops_(std::move(drops))
{
    if (arena_->is_shared()) {
        status_memory_ = ArenaBlock(arena_, Arena::Side::kEngine, sizeof(*shown_status_));
        shown_status_ = new (status_memory_.memory()) std::atomic<uint32_t>(FLOW_INIT);
    }
    if (drops_)
        drops_->add(*this);
}

Chain::~Chain()
{
    if (drops_)
        drops_->remove(*this);
}

mapi_function_drops Chain::drops() const
{
    mapi_function_drops sum = {};
    for (const auto &applied : functions_)
        add_up(sum, applied->drops(has_joined()));
    return sum;
}

void Chain::append(std::shared_ptr<Node> node)
{
    auto applied = std::make_unique<Applied>(std::move(node));
    if (arena_->is_shared())
        applied->make_mirror(arena_); // on failure the flow's functions are unchanged
    applied->is_read_elsewhere = arena_->is_shared();
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
    if (status_.exchange(FLOW_CLOSED) != FLOW_FINISHED)
        show_status();
}

mapi_flow_status Chain::reported_status() const
{
    const mapi_flow_status reported = status();
    if (reported != FLOW_FINISHED)
        return reported;
    return std::any_of(functions_.begin(), functions_.end(),
                       [](const auto &applied) { return applied->has_left(); })
               ? FLOW_ACTIVE
               : reported;
}

int Chain::count_transforms() const
{
    return int(std::count_if(functions_.begin(), functions_.end(), [](const auto &applied) {
        return !applied->is_removed && applied->node->traits().transforms();
    }));
}

int Chain::count_present() const
{
    return int(std::count_if(functions_.begin(), functions_.end(),
                             [](const auto &applied) { return !applied->is_removed; }));
}

bool Chain::watches() const
{
    return std::any_of(functions_.begin(), functions_.end(), [](const auto &applied) {
        return !applied->is_removed && !applied->node->watchers().empty();
    });
}

Applied *Chain::first() const
{
    const auto found = std::find_if(functions_.begin(), functions_.end(),
                                    [](const auto &applied) { return !applied->is_removed; });
    return found == functions_.end() ? nullptr : found->get();
}

void Chain::check_removable(size_t position) const
{
    const Node &node = *functions_[position]->node;
    const std::string name = node.function().name;
    for (size_t i = position + 1; i < functions_.size(); ++i) {
        if (functions_[i]->is_removed)
            continue;
        const Node &behind = *functions_[i]->node;
        const std::string other =
            std::string(behind.function().name) + ", function " + std::to_string(i + 1) + ", ";
        if (status() != FLOW_INIT && !node.traits().passes_all())
            throw Error(MAPI_FUNCTION_IN_USE,
                        name + " cannot be removed: " + other +
                            "receives its packets through it, and the flow is connected");
        if (behind.arguments().refers_to(this, position) ||
            (node.traits().begins_meter() && behind.traits().ends_meter() &&
             find_meter_begin(i) == int(position)))
            throw Error(MAPI_FUNCTION_IN_USE,
                        name + " cannot be removed: " + other + "uses its result");
    }
}

void Chain::ask_for_reset(size_t position)
{
    const uint32_t number = resets_asked() + 1;
    functions_[position]->reset_asked = number;
    functions_[position]->node->renew_state();
    resets_asked_.store(number, std::memory_order_release);
}

// A later request of the same function is left to a later plan.
void Chain::reset(uint32_t resets)
{
    const uint32_t done = resets_done_.load(std::memory_order_relaxed);
    for (const auto &applied : functions_) {
        const uint32_t asked = applied->reset_asked;
        if (asked > done && asked <= resets && !applied->is_removed)
            applied->reset();
    }
    resets_done_.store(std::max(done, resets), std::memory_order_release); // pairs with has_reset()
}

void Chain::activate(SharedNodes &shared)
{
    use_shared_nodes(shared);
    find_metered();
    start_us_ = now_us();
    status_.store(FLOW_ACTIVE,
                  std::memory_order_release); // pairs with status(): the functions are fixed
    show_status();
}

Chain::Nodes Chain::nodes() const
{
    Nodes nodes;
    for (const auto &applied : functions_)
        nodes.push_back(applied->node);
    return nodes;
}

void Chain::deactivate(const Nodes &nodes)
{
    for (size_t i = 0; i < functions_.size(); ++i) {
        Applied &applied = *functions_[i];
        applied.node = nodes[i];
        applied.node->set_source(nullptr); // another flow's node may end before this one connects
        applied.meter_begin.reset();
        applied.metered.clear();
    }
    start_us_ = 0;
    status_.store(FLOW_INIT, std::memory_order_release);
    show_status();
}

// The same function with the same arguments and the same input mask runs only once, whichever flow
// applied it.
void Chain::use_shared_nodes(SharedNodes &shared)
{
    const Node *source = nullptr; // the node whose output is the input here; null: the whole batch
    for (const auto &applied : functions_) {
        if (applied->is_removed)
            continue;
        std::shared_ptr<Node> &node = applied->node;
        if (std::shared_ptr<Node> same = shared.find(source, *node)) {
            node = std::move(same);
        } else {
            node->set_source(source);
            shared.add(*node);
        }
        if (!node->traits().passes_all())
            source = node.get();
    }
}

int Chain::find_meter_begin(size_t end) const
{
    for (int open = 1, i = int(end) - 1; i >= 0; --i) {
        const Applied &applied = *functions_[size_t(i)];
        open += applied.is_removed ? 0
                                   : int(applied.node->traits().ends_meter()) -
                                         int(applied.node->traits().begins_meter());
        if (open == 0)
            return i;
    }
    return -1;
}

void Chain::find_metered()
{
    for (size_t end = 0; end < functions_.size(); ++end) {
        Applied &applied = *functions_[end];
        const int begin =
            !applied.is_removed && applied.node->traits().ends_meter() ? find_meter_begin(end) : -1;
        if (begin < 0)
            continue;
        applied.meter_begin = functions_[size_t(begin)]->node;
        for (size_t i = size_t(begin) + 1; i < end; ++i) {
            const std::shared_ptr<Node> &node = functions_[i]->node;
            if (!functions_[i]->is_removed && !node->traits().begins_meter() &&
                !node->traits().ends_meter())
                applied.metered.push_back({node});
        }
    }
}

void Chain::join(uint32_t resets)
{
    if (joined_.load(std::memory_order_relaxed)) {
        if (!has_reset()) [[unlikely]]
            reset(resets);
        return;
    }
    for (const auto &applied : functions_) {
        applied->rebase();
        applied->base_drops = applied->node->drops();
        applied->joined_result = applied->base_result;
    }
    joined_.store(true, std::memory_order_release); // pairs with has_joined(): the bases are set
    begun_->store(1, std::memory_order_release);    // pairs with mapi_flow_has_begun()
}

// Shared nodes continue for other flows.
void Chain::end()
{
    if (is_ending_.exchange(true))
        return;
    for (const auto &applied : functions_) {
        if (!applied->node->traits().is_shareable() && !applied->is_removed &&
            applied->node->leave())
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
    if (!has_ended() || !std::all_of(functions_.begin(), functions_.end(), [](const auto &applied) {
            return applied->node->is_settled();
        }))
        return false;
    mapi_flow_status active = FLOW_ACTIVE; // unless it was closed meanwhile
    if (status_.compare_exchange_strong(active, FLOW_FINISHED))
        show_status();
    return true;
}

void Chain::cancel()
{
    for (const auto &applied : functions_) {
        if (!applied->node->traits().is_shareable() && !applied->node->traits().is_shared_by_step())
            applied->node->cancel();
    }
}
} // namespace mapi::engine
