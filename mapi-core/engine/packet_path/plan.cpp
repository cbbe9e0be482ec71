// SPDX-License-Identifier: MIT
// Plan: the connected flows of a device, compiled into stages.
#include "engine/packet_path/plan.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "engine/packet_path/chain.hpp"

namespace mapi::engine
{
namespace
{
uint64_t next_number()
{
    static std::atomic<uint64_t> last = 0;
    return ++last;
}
} // namespace

Plan::Plan(std::vector<std::shared_ptr<Chain>> chains,
           const std::vector<std::shared_ptr<NodeGroup>> &groups, const OffloadTarget *offload)
    : chains_(std::move(chains)), stages_(1), number_(next_number())
{
    const size_t functions = std::accumulate(
        chains_.begin(), chains_.end(), size_t(1),
        [](size_t sum, const auto &chain) { return sum + chain->functions().size(); });
    places_.reserve(functions);
    stage_of_.reserve(functions);
    places_[nullptr] = {};
    for (const auto &chain : chains_) {
        resets_.push_back(chain->resets_asked());
        add(*chain, chain->functions().size());
        for (const auto &applied : chain->functions()) {
            if (applied->is_removed)
                continue;
            if (applied->mirror.bytes() > 0)
                mirrors_[applied->node.get()].push_back(applied.get());
            add_metered(*applied);
        }
    }
    // References are added only now that all nodes have a place.
    for (uint32_t stage = 0; stage < stages_.size(); ++stage) {
        for (Step &step : stages_[stage].steps) {
            step.first_reference = uint32_t(references_.size());
            add_references(*step.node, stage);
            step.references = uint32_t(references_.size()) - step.first_reference;
        }
    }
    // From the last stage to the first, since a stage depends on those after it.
    for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage)
        complete(*stage);
    if (offload)
        choose_offloaded(*offload, watchers_.empty());
    takes_bursts_ = can_take_bursts();
    for (Stage &stage : stages_) {
        stage.masks.resize((stage.steps.size() + 1) * (takes_bursts_ ? kBurstBatches : 1));
        if (offload_ && &stage == &stages_.front())
            left_.resize(stage.masks.size());
        use_groups(stage, groups);
        for (size_t i = 0; i < stage.steps.size(); ++i) {
            const bool is_of_group =
                i >= stage.steady_steps && i < stage.steps.size() - stage.tail_steps;
            const Step &step = stage.steps[i];
            if (step.has_result && !is_of_group)
                results_.push_back({&step});
            if (step.node->function().tick && step.has_result)
                ticked_results_.push_back(&step);
            if (step.node->function().tick || step.references > 0 || step.transformed != kNone)
                stage.timed.push_back(uint32_t(i));
        }
    }
    choose_prefiltered();
    for (const auto &node : nodes_) {
        if (node->output().is_copied())
            copied_.push_back(node.get());
        for (const NodeArguments::AwaitedFlow &flow : node->arguments().awaited_flows())
            awaited_[flow.begun].push_back(flow.seen);
    }
}

// With bursts, a program that reads two such buffers in turn could wait for packets in one while
// the thread waits for room in the other.
bool Plan::can_take_bursts() const
{
    const auto waits = [](const auto &node) { return node->output().waits_for_reader(); };
    return !takes_single_packets_ && !has_tails_ && watchers_.empty() &&
           std::all_of(stages_[0].steps.begin(), stages_[0].steps.end(),
                       [](const Step &step) { return step.is_plain; }) &&
           std::count_if(nodes_.begin(), nodes_.end(), waits) <= 1;
}

// Chooses functions that get every packet.  Counters next to them do not access packet data.
void Plan::choose_prefiltered()
{
    Stage &stage = stages_[0];
    bool reads_passed_only = watchers_.empty() && stage.tails.empty();
    for (size_t i = 0; i < stage.steady_steps; ++i) {
        Step &step = stage.steps[i];
        if (step.input != 0 || step.offloaded != kNone)
            continue;
        if (step.is_plain && step.node->traits().can_prefilter() &&
            prefiltered_.size() < MAPI_PREFILTERED_MAX) {
            step.prefiltered = uint32_t(prefiltered_.size());
            prefiltered_.push_back(step.node);
        } else if (!step.node->traits().is_additive()) {
            reads_passed_only = false;
        }
    }
    reads_passed_only &= choose_prefiltered_groups();
    prefilter_ = {sizeof(prefilter_), reads_passed_only, run_prefilter, this};
}

// False if a group is not prefiltered.
bool Plan::choose_prefiltered_groups()
{
    bool are_all = true;
    for (GroupStep &group : stages_[0].groups) {
        const size_t place = prefiltered_.size() + prefiltered_groups_.size();
        const bool gets_every_packet = group.inputs.size() == 1 && group.inputs[0].mask == 0;
        if (gets_every_packet && group.group->can_prefilter() && place < MAPI_PREFILTERED_MAX) {
            group.prefiltered = uint32_t(place);
            prefiltered_groups_.push_back(group.group);
        } else {
            are_all = false;
        }
    }
    return are_all;
}

void Plan::run_prefilter(const mapi_prefilter *prefilter, const mapi_batch *batch,
                         mapi_prefiltered *result)
{
    const Plan &plan = *static_cast<const Plan *>(prefilter->engine);
    result->number = plan.number_;
    result->known = 0;
    if (NET_SLICE_IS_ON()) // each slice belongs to the unit of its packets
        return;
    size_t place = 0;
    const auto add = [&](const auto *node) {
        result->known |= uint64_t(node->prefilter(*batch, result->passed[place])) << place;
        ++place;
    };
    std::for_each(plan.prefiltered_.begin(), plan.prefiltered_.end(), add);
    std::for_each(plan.prefiltered_groups_.begin(), plan.prefiltered_groups_.end(), add);
}

void Plan::add_metered(Applied &applied)
{
    if (!applied.meter_begin)
        return;
    meter_ends_[applied.node.get()] = &applied;
    for (const Applied::Metered &function : applied.metered)
        metered_.insert(function.node.get());
}

// A node that refers to a result of a tail must run after it.
bool Plan::is_ordered(const Stage &stage, const Step &step) const
{
    if (step.node->runs_in_order() || (step.input > 0 && stage.steps[step.input - 1].is_ordered))
        return true;
    for (uint32_t i = 0; i < step.references; ++i) {
        if (ordered_.contains(references_[step.first_reference + i].node))
            return true;
    }
    return false;
}

void Plan::complete(Stage &stage)
{
    for (Step &step : stage.steps) {
        step.is_metered = metered_.contains(step.node);
        if (const auto end = meter_ends_.find(step.node); end != meter_ends_.end())
            step.meter_end = end->second;
        const auto found = referred_of_.find(step.node);
        step.is_ordered = is_ordered(stage, step);
        if (step.is_ordered)
            ordered_.insert(step.node);
        step.has_result = step.node->output().has_published_result();
        if (const auto mirrors = mirrors_.find(step.node); mirrors != mirrors_.end())
            step.mirrors = &mirrors->second;
        step.referred = found == referred_of_.end() ? kNone : found->second;
        const bool runs_every_batch = step.node->traits().runs_every_batch();
        step.is_plain = step.references == 0 && step.referred == kNone &&
                        step.transformed == kNone && !runs_every_batch && !step.is_metered;
        stage.runs_every_batch |= runs_every_batch || (step.transformed != kNone &&
                                                       stages_[step.transformed].runs_every_batch);
    }
}

// Nodes that any function of the flow refers to come before the first one, and so before the flow's
// stages.
void Plan::add(const Chain &chain, size_t functions)
{
    const auto for_each_present = [&](auto &&use) {
        for (size_t i = 0; i < functions; ++i) {
            if (!chain.functions()[i]->is_removed)
                use(chain.functions()[i]->node);
        }
    };
    for_each_present([&](const auto &node) { add_targets(*node, chain); });
    for_each_present([&](const auto &node) { add(node, chain); });
}

// After its source, which comes first in its flow, and after the nodes that it refers to, which
// were applied earlier.
void Plan::add(const std::shared_ptr<Node> &node, const Chain &chain)
{
    if (places_.contains(node.get()))
        return;
    add_targets(*node, chain);
    const Place source = places_.at(node->source());
    Step step{node.get(), source.mask};
    Place place{source.stage, uint32_t(stages_[source.stage].steps.size() + 1)};
    if (node->traits().transforms()) {
        step.transformed = uint32_t(stages_.size());
        place = {step.transformed, 0};
        stages_.emplace_back();
    }
    stages_[source.stage].steps.push_back(step);
    stage_of_.emplace(node.get(), source.stage);
    places_.emplace(node.get(), place);
    nodes_.push_back(node);
    takes_single_packets_ |= node->takes_single_packets();
    has_tails_ |= node->runs_in_order();
    for (const Watcher &watcher : node->watchers()) {
        if (std::find(watchers_.begin(), watchers_.end(), watcher) == watchers_.end())
            watchers_.push_back(watcher);
    }
}

// Targets in the flow itself are added in its order anyway.
void Plan::add_targets(Node &node, const Chain &own)
{
    for (const NodeArguments::Reference &reference : node.arguments().references()) {
        const auto chain = reference.target.chain.lock();
        if (chain.get() != &own && has_chain(chain.get()) &&
            !chain->functions()[reference.target.position]->is_removed &&
            !places_.contains(chain->functions()[reference.target.position]->node.get()))
            add(*chain, reference.target.position + 1);
    }
}

bool Plan::has_chain(const Chain *chain) const
{
    return chain && std::any_of(chains_.begin(), chains_.end(),
                                [chain](const auto &own) { return own.get() == chain; });
}

void Plan::add_references(Node &node, uint32_t stage)
{
    for (NodeArguments::Reference &reference : node.arguments().references()) {
        const std::shared_ptr<const Chain> chain = reference.target.chain.lock();
        const size_t position = reference.target.position;
        const bool is_own = has_chain(chain.get());
        const Node *const referred_node = is_own && !chain->functions()[position]->is_removed
                                              ? chain->functions()[position]->node.get()
                                              : nullptr;
        if (referred_node)
            reference.kept = referred_node->output().memory();
        const uint32_t referred = referred_node ? refer_to(referred_node) : kNone;
        const bool is_same_stage = referred_node && stage_of_.at(referred_node) == stage;
        // A result of other packets is correct only if it is updated after each single packet.
        takes_single_packets_ |= referred != kNone && !is_same_stage;
        references_.push_back({&reference.view, is_own ? chain.get() : nullptr,
                               reference.target.chain, position, referred, referred_node,
                               is_same_stage});
    }
}

uint32_t Plan::refer_to(const Node *node)
{
    const auto [entry, is_new] = referred_of_.try_emplace(node, uint32_t(referred_.size()));
    if (is_new)
        referred_.push_back(std::make_unique<Referred>());
    return entry->second;
}

void Plan::join(Meter *meter)
{
    meter_ = meter;
    for (size_t i = 0; i < chains_.size(); ++i)
        chains_[i]->join(resets_[i]);
    joined_ = true;
}

void Plan::publish(const Step &step)
{
    if (!step.has_result)
        return;
    step.node->output().publish();
    if (!step.mirrors)
        return;
    for (Applied *applied : *step.mirrors)
        applied->publish_mirror();
}

void Plan::publish()
{
    for (Result &result : results_) {
        const Node &node = *result.step->node;
        const uint64_t seen = node.seen();
        if (seen == result.seen && !offload_ && !node.traits().runs_every_batch())
            continue;
        result.seen = seen;
        publish(*result.step);
    }
    for (Node *node : copied_)
        node->publish_when_due();
    for (Branch *branch : ran_) {
        branch->has_run = false;
        for (const Step *step = branch->first; step != branch->first + branch->steps; ++step)
            publish(*step);
    }
    ran_.clear();
}
} // namespace mapi::engine
