// SPDX-License-Identifier: MIT
// Plan: the connected flows of a device, compiled.
#include "engine/plan.hpp"

#include <algorithm>
#include <bit>

#include "engine/chain.hpp"

namespace mapi::engine
{
Plan::Plan(std::vector<std::shared_ptr<Chain>> chains) : chains_(std::move(chains)), outputs_({{nullptr, 0}})
{
    for (const auto &chain : chains_) {
        for (const auto &applied : chain->functions())
            add(applied->node);
    }
    // Only now is it known to whom others refer.
    for (Step &step : steps_) {
        step.first_reference = uint32_t(references_.size());
        add_references(*step.node);
        step.references = uint32_t(references_.size()) - step.first_reference;
    }
    for (Step &step : steps_) {
        const auto found = referred_of_.find(step.node);
        step.referred = found == referred_of_.end() ? kNone : found->second;
        step.is_referring = step.references > 0 || step.referred != kNone || step.node->runs_every_batch();
    }
    masks_.resize(nodes_.size() + 1);
}

// Behind its source, which comes first in its flow, and behind what it refers to, which was applied before it.
void Plan::add(const std::shared_ptr<Node> &node)
{
    if (outputs_.contains(node.get()))
        return;
    for (const Node::Reference &reference : node->references()) {
        const auto chain = reference.target.chain.lock();
        for (size_t i = 0; has_chain(chain.get()) && i <= reference.target.position; ++i)
            add(chain->functions()[i]->node);
    }
    outputs_.emplace(node.get(), uint32_t(nodes_.size() + 1));
    nodes_.push_back(node);
    steps_.push_back({node.get(), outputs_.at(node->source())});
    if (node->has_published_result())
        results_.push_back(node.get());
    takes_single_packets_ |= node->takes_single_packets();
}

bool Plan::has_chain(const Chain *chain) const
{
    return chain && std::any_of(chains_.begin(), chains_.end(), [chain](const auto &own) { return own.get() == chain; });
}

void Plan::add_references(Node &node)
{
    for (Node::Reference &reference : node.references()) {
        std::shared_ptr<const Chain> chain = reference.target.chain.lock();
        const size_t position = reference.target.position;
        uint32_t referred = kNone;
        if (has_chain(chain.get())) {
            reference.kept = chain->functions()[position]->node;
            referred = refer_to(reference.kept.get());
        }
        references_.push_back({&reference.view, std::move(chain), position, referred, reference.kept.get()});
    }
}

uint32_t Plan::refer_to(const Node *node)
{
    const auto [entry, is_new] = referred_of_.try_emplace(node, uint32_t(referred_.size()));
    if (is_new)
        referred_.push_back(std::make_unique<Referred>());
    return entry->second;
}

void Plan::join()
{
    for (const auto &chain : chains_)
        chain->join();
    joined_ = true;
}

void Plan::run(const mapi_batch &batch)
{
    if (!takes_single_packets_) [[likely]]
        return run_masks(batch);
    for (uint64_t rest = batch.all; rest != 0; rest &= rest - 1) {
        mapi_batch single = batch;
        single.all = rest & -rest;
        single.wire_bytes = batch.packets[std::countr_zero(rest)].wire_len;
        run_masks(single);
    }
}

void Plan::run_masks(const mapi_batch &batch)
{
    const uint64_t *const masks = masks_.data();
    uint64_t *output = masks_.data();
    *output = batch.all;
    for (const Step &step : steps_) {
        const uint64_t input = masks[step.input];
        if (step.is_referring) [[unlikely]]
            *++output = run_referring(step, batch, input);
        else
            *++output = input == 0 ? 0 : step.node->run(batch, input);
    }
}

// A node that refers to others, or to which others refer.
uint64_t Plan::run_referring(const Step &step, const mapi_batch &batch, uint64_t input)
{
    Node &node = *step.node;
    for (uint32_t i = 0; i < step.references; ++i)
        update(references_[step.first_reference + i]);
    if (step.referred != kNone) {
        referred_[step.referred]->before = node.first_word();
        referred_[step.referred]->has_before = node.has_value();
    }
    const uint64_t passed = input != 0 || node.runs_every_batch() ? node.run(batch, input) : 0;
    if (step.referred != kNone)
        referred_[step.referred]->mask = node.values(batch, input, referred_[step.referred]->values.data());
    for (uint32_t i = 0; i < step.references; ++i)
        fold(*references_[step.first_reference + i].view);
    return passed;
}

// After a batch: the view stands alone then, whatever becomes of its flow and of this plan.
void Plan::fold(mapi_reference &view)
{
    if (view.mask == 0)
        return;
    view.before = view.values[63 - std::countl_zero(view.mask)];
    view.has_before = 1;
    view.mask = 0;
    view.values = nullptr;
}

void Plan::update(const Reference &reference) const
{
    mapi_reference &view = *reference.view;
    if (!reference.chain || !reference.chain->has_joined() || reference.chain->status() == FLOW_CLOSED)
        return;
    const Applied &applied = *reference.chain->functions()[reference.position];
    view.base = applied.base_result;
    if (reference.referred == kNone) {
        view.before = applied.node->published().first_word();
        view.has_before = 1;
        return;
    }
    const Referred &referred = *referred_[reference.referred];
    view.before = referred.before;
    view.has_before = referred.has_before;
    view.mask = referred.mask;
    view.values = referred.values.data();
    view.words = reference.node->result_words();
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
        sum.not_written += drops.not_written;
    }
    return sum;
}
} // namespace mapi::engine
