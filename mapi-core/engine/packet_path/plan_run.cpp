// SPDX-License-Identifier: MIT
// Plan: a burst through the stages, on the device's thread.
#include <bit>
#include <chrono>

#include "engine/packet_path/chain.hpp"
#include "engine/packet_path/plan.hpp"

namespace mapi::engine
{
// Step by step for the whole burst if every step depends only on its own packets, batch by batch
// otherwise.
void Plan::run(Burst burst)
{
    if (!awaited_.empty()) [[unlikely]]
        look_at_awaited();
    if (takes_bursts_) [[likely]]
        return run_steps(stages_[0], burst);
    for (const mapi_batch &batch : burst) {
        for (const Watcher &watcher : watchers_)
            watcher.kind->watch(watcher.object.get(), &batch);
        run(stages_[0], batch);
    }
}

// Once for all functions, so that functions that wait for the same flow (perhaps on another device)
// let the same packets pass.
void Plan::look_at_awaited()
{
    for (const auto &[begun, places] : awaited_) {
        const uint64_t word = begun->load(std::memory_order_acquire);
        for (uint64_t *place : places)
            *place = word;
    }
}

void Plan::run(Stage &stage, const mapi_batch &batch)
{
    if (!takes_single_packets_) [[likely]]
        return run_steps(stage, {&batch, 1});
    for (uint64_t rest = batch.all; rest != 0; rest &= rest - 1) {
        mapi_batch single = batch;
        single.all = rest & -rest;
        single.wire_bytes = batch.packets[std::countr_zero(rest)].wire_len;
        run_steps(stage, {&single, 1});
    }
}

// With several batches, all steps are plain.
void Plan::run_steps(Stage &stage, Burst burst)
{
    const size_t stride = stage.steps.size() + 1;
    uint64_t *const masks = stage.masks.data();
    const bool is_prefiltered =
        burst.front().prefiltered &&
        !NET_SLICE_IS_ON(); // a session opened since then must get all slices
    for (size_t i = 0; i < burst.size(); ++i)
        masks[i * stride] = burst[i].all;
    for (size_t i = 0; i < stage.steady_steps; ++i) {
        const Step &step = stage.steps[i];
        if (step.offloaded != kNone) [[unlikely]]
            take_verdicts(stage, i, burst);
        else if (step.prefiltered != kNone && is_prefiltered)
            step.node->run_prefiltered(burst, masks + i + 1, stride, number_, step.prefiltered);
        else if (step.is_plain) [[likely]]
            step.node->run(burst, masks + step.input, masks + i + 1, stride);
        else
            masks[i + 1] = run_step(step, burst.front(), masks[step.input]);
    }
    if (stage.groups.empty() && stage.tails.empty())
        return;
    for (size_t i = 0; i < burst.size(); ++i)
        run_groups(stage, burst[i], masks + i * stride);
}

// What the driver's program has let pass, and counted; and what it has left to the engine here or
// at a node before.
void Plan::take_verdicts(Stage &stage, size_t place, Burst burst)
{
    const Step &step = stage.steps[place];
    const size_t stride = stage.steps.size() + 1;
    for (size_t i = 0; i < burst.size(); ++i) {
        const mapi_offloaded *const verdicts = burst[i].offloaded;
        uint64_t &output = stage.masks[i * stride + place + 1];
        output = verdicts ? verdicts->passed[step.offloaded] & burst[i].all : 0;
        if (!verdicts || !verdicts->undecided) [[likely]]
            continue;
        uint64_t *const left = left_.data() + i * stride;
        const uint64_t mask = (step.input ? left[step.input] : 0) |
                              (verdicts->undecided[step.offloaded] & burst[i].all);
        left[place + 1] = mask ? step.node->run(burst[i], mask) : 0;
        output |= left[place + 1];
    }
}

// Packets that a node of the group may let pass, as far as the driver's thread has determined them.
uint64_t Plan::possible(const GroupStep &group, const mapi_batch &batch) const
{
    const mapi_prefiltered *const result = batch.prefiltered;
    if (group.prefiltered == kNone || !result || result->number != number_ ||
        !(result->known >> group.prefiltered & 1) || NET_SLICE_IS_ON())
        return batch.all;
    return result->passed[group.prefiltered];
}

void Plan::run_groups(Stage &stage, const mapi_batch &batch, uint64_t *masks)
{
    for (GroupStep &group : stage.groups)
        run_group(stage, group, batch, masks);
    if (!stage.tails.empty())
        run_tails(stage, batch, masks);
    for (const uint32_t mask : stage.fed)
        masks[mask] = 0;
    stage.fed.clear();
}

// If nodes have few packets in common, running them one after the other is less work than one pass
// over all packets.
void Plan::run_group(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks)
{
    uint64_t any = 0;
    GroupPolicy::Work work = {};
    const auto add = [&](const GroupInput &input) {
        const uint64_t mask = masks[input.mask];
        any |= mask;
        work.node_packets += uint64_t(std::popcount(mask)) * input.nodes;
    };
    for (uint32_t i = 0; i < group.steady_inputs; ++i)
        add(group.inputs[i]);
    for (const uint32_t i : group.fed)
        add(group.inputs[i]);
    any &= possible(group, batch);
    if (any == 0)
        return;
    work.packets = uint64_t(std::popcount(any));
    if (group.group->wants_inputs()) {
        run_with_inputs(stage, group, batch, masks, any);
    } else if (group.inputs.size() == 1) {
        run_as_group(stage, group, batch, masks, any);
    } else {
        const bool is_group = group.policy.prefers_group(work);
        const auto begin = std::chrono::steady_clock::now();
        if (is_group)
            run_as_group(stage, group, batch, masks, any);
        else
            run_one_by_one(stage, group, batch, masks);
        const auto ns =
            uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
        is_group ? group.policy.note_as_group(work, ns) : group.policy.note_alone(work, ns);
    }
    group.fed.clear();
}

void Plan::run_one_by_one(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks)
{
    for (uint32_t i = 0; i < group.steady_inputs; ++i)
        run_input(stage, group, batch, masks, group.inputs[i]);
    for (const uint32_t i : group.fed)
        run_input(stage, group, batch, masks, group.inputs[i]);
}

void Plan::run_as_group(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks,
                        uint64_t any)
{
    run_branches(stage, group, batch, masks, group.group->run(batch, any));
}

void Plan::run_with_inputs(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks,
                           uint64_t any)
{
    group.active.clear();
    const auto add = [&](uint32_t number) {
        const GroupInput &input = group.inputs[number];
        if (const uint64_t mask = masks[input.mask] & any)
            group.active.push_back(
                {mask, group.by_input.data() + input.first_node, input.nodes, number});
    };
    for (uint32_t i = 0; i < group.steady_inputs; ++i)
        add(i);
    for (const uint32_t i : group.fed)
        add(i);
    const mapi_group_inputs inputs = {group.active.data(), uint32_t(group.active.size()),
                                      uint32_t(group.inputs.size()), number_};
    run_branches(stage, group, batch, masks, group.group->run(batch, inputs));
}

void Plan::run_branches(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks,
                        std::span<const mapi_group_passed> all_passed)
{
    for (const mapi_group_passed &passed : all_passed) {
        Branch &branch = group.branches[passed.instance];
        const uint64_t own = branch.first ? passed.mask & masks[branch.first->input] : 0;
        if (own == 0)
            continue;
        branch.first->node->count(own);
        run_branch(stage, branch, batch, masks, own);
    }
}

void Plan::run_input(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks,
                     const GroupInput &input)
{
    const uint64_t mask = masks[input.mask];
    if (mask == 0)
        return;
    for (uint32_t i = input.first_node; i < input.first_node + input.nodes; ++i) {
        Branch &branch = group.branches[group.by_input[i]];
        if (const uint64_t passed = branch.first->node->run(batch, mask))
            run_branch(stage, branch, batch, masks, passed);
    }
}

// Steps after a node that let nothing pass are skipped: their masks are stale, except those that
// are inputs of other node branches.
void Plan::run_branch(Stage &stage, Branch &branch, const mapi_batch &batch, uint64_t *masks,
                      uint64_t passed)
{
    uint64_t *output = masks + branch.mask;
    *output = passed;
    for (const Step *step = branch.first + 1; step != branch.first + branch.steps; ++step) {
        const uint64_t input = masks[step->input];
        *++output = input == 0 ? 0 : step->node->run(batch, input);
    }
    for (uint32_t i = branch.first_feed; i < branch.first_feed + branch.feeds; ++i) {
        const Feed &feed = stage.feeds[i];
        if (masks[feed.mask] == 0)
            continue;
        if (feed.group != kNone)
            stage.groups[feed.group].fed.push_back(feed.input);
        stage.fed.push_back(feed.mask);
    }
    if (!branch.has_run)
        ran_.push_back(&branch);
    branch.has_run = true;
}

// For each packet, the tails that get it in their order.
void Plan::run_tails(Stage &stage, const mapi_batch &batch, uint64_t *masks)
{
    uint64_t any = 0;
    stage.running.clear();
    for (const Tail &tail : stage.tails) {
        any |= masks[tail.input];
        if (masks[tail.input] != 0)
            stage.running.push_back(&tail);
    }
    for (uint64_t rest = any; rest != 0; rest &= rest - 1) {
        mapi_batch single = batch;
        single.all = rest & -rest;
        single.wire_bytes = batch.packets[std::countr_zero(rest)].wire_len;
        for (const Tail *tail : stage.running) {
            if (const uint64_t input = masks[tail->input] & single.all)
                run_tail(stage, *tail, single, masks, input);
        }
    }
    mapi_batch none = batch;
    none.all = none.wire_bytes = 0;
    for (const Tail &tail : stage.tails) { // what others have changed since
        if (!tail.is_plain)
            run_tail(stage, tail, none, masks, 0);
    }
}

void Plan::run_tail(const Stage &stage, const Tail &tail, const mapi_batch &batch, uint64_t *masks,
                    uint64_t input)
{
    for (uint32_t i = tail.first; i < tail.first + tail.steps; ++i) {
        const Step &step = stage.steps[i];
        const uint64_t mask = i == tail.first ? input : masks[step.input];
        if (!step.is_plain)
            masks[i + 1] = run_step(step, batch, mask);
        else
            masks[i + 1] = mask == 0 ? 0 : step.node->run(batch, mask);
    }
}

// A node that refers to others or is referred to, creates packets, or is measured.
uint64_t Plan::run_step(const Step &step, const mapi_batch &batch, uint64_t input)
{
    Node &node = *step.node;
    for (uint32_t i = 0; i < step.references; ++i) {
        const Reference &reference = references_[step.first_reference + i];
        update(reference, reference.is_same_stage);
    }
    if (step.referred != kNone) {
        referred_[step.referred]->before = node.output().first_word();
        referred_[step.referred]->has_before = node.has_value();
    }
    if (step.meter_end && meter_)
        step.meter_end->show_measured(*meter_);
    uint64_t passed = 0;
    if (step.is_metered && meter_ && (input != 0 || node.traits().runs_every_batch()))
        passed = node.run_metered(batch, input, *meter_);
    else if (input != 0 || node.traits().runs_every_batch())
        passed = node.run(batch, input);
    if (step.referred != kNone)
        referred_[step.referred]->mask =
            node.values(batch, node.traits().runs_every_batch() ? batch.all : input,
                        referred_[step.referred]->values.data());
    for (uint32_t i = 0; i < step.references; ++i)
        fold(*references_[step.first_reference + i].view);
    if (step.transformed != kNone && (input == 0 || !run_transformed(step)) &&
        stages_[step.transformed].runs_every_batch) {
        mapi_batch none = batch;
        none.all = none.wire_bytes = 0;
        run_steps(stages_[step.transformed], {&none, 1});
    }
    return passed;
}

// Runs the packets that the node has created through its stage.  False if there were none.
bool Plan::run_transformed(const Step &step)
{
    mapi_batch batch = {};
    bool has_made = false;
    for (Meter *const meter = step.is_metered ? meter_ : nullptr;
         step.node->next_batch(batch, meter); has_made = true)
        run(stages_[step.transformed], batch);
    return has_made;
}

void Plan::tick(uint64_t now_ns)
{
    look_at_awaited();
    tick(stages_[0], now_ns);
    for (const Step *step : ticked_results_)
        publish(*step);
}

void Plan::tick(Stage &stage, uint64_t now_ns)
{
    for (const uint32_t place : stage.timed) {
        const Step &step = stage.steps[place];
        for (uint32_t i = 0; i < step.references; ++i)
            update(references_[step.first_reference + i], false);
        step.node->tick(now_ns);
        if (step.transformed == kNone)
            continue;
        run_transformed(step);
        tick(stages_[step.transformed], now_ns);
    }
}

void Plan::flush()
{
    look_at_awaited();
    flush(stages_[0]);
}

void Plan::flush(Stage &stage)
{
    for (const Step &step : stage.steps) {
        if (step.transformed == kNone)
            continue;
        step.node->flush();
        run_transformed(step);
        flush(stages_[step.transformed]);
    }
}

// After a batch: makes the view independent of its flow and of this plan.
void Plan::fold(mapi_reference &view)
{
    if (view.mask == 0)
        return;
    view.before = view.values[63 - std::countl_zero(view.mask)];
    view.has_before = 1;
    view.mask = 0;
    view.values = nullptr;
}

// is_same_batch: called while the batch runs that the referred node has just processed.
void Plan::update(const Reference &reference, bool is_same_batch) const
{
    mapi_reference &view = *reference.view;
    const std::shared_ptr<const Chain> held = reference.own ? nullptr : reference.other.lock();
    const Chain *const chain = reference.own ? reference.own : held.get();
    if (!chain || !chain->has_joined() || chain->status() == FLOW_CLOSED)
        return;
    const Applied &applied = *chain->functions()[reference.position];
    if (applied.is_removed)
        return;
    view.base = applied.joined_result;
    if (reference.referred == kNone) {
        view.before = applied.node->output().published().first_word();
        view.has_before = 1;
        return;
    }
    view.words = reference.node->output().words();
    if (!is_same_batch) {
        view.before = reference.node->output().first_word();
        view.has_before = reference.node->has_value();
        return;
    }
    const Referred &referred = *referred_[reference.referred];
    view.before = referred.before;
    view.has_before = referred.has_before;
    view.mask = referred.mask;
    view.values = referred.values.data();
}
} // namespace mapi::engine
