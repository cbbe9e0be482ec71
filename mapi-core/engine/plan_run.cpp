// SPDX-License-Identifier: MIT
// Plan: a batch through the stages, on the device's thread.
#include <bit>

#include "engine/chain.hpp"
#include "engine/plan.hpp"

namespace mapi::engine
{
void Plan::run(Stage &stage, const mapi_batch &batch)
{
    if (!takes_single_packets_) [[likely]]
        return run_masks(stage, batch);
    for (uint64_t rest = batch.all; rest != 0; rest &= rest - 1) {
        mapi_batch single = batch;
        single.all = rest & -rest;
        single.wire_bytes = batch.packets[std::countr_zero(rest)].wire_len;
        run_masks(stage, single);
    }
}

void Plan::run_masks(Stage &stage, const mapi_batch &batch)
{
    const uint64_t *const masks = stage.masks.data();
    uint64_t *output = stage.masks.data();
    *output = batch.all;
    for (size_t i = 0; i < stage.steady_steps; ++i) {
        const Step &step = stage.steps[i];
        const uint64_t input = masks[step.input];
        if (step.is_plain) [[likely]]
            *++output = input == 0 ? 0 : step.node->run(batch, input);
        else
            *++output = run_step(step, batch, input);
    }
    for (JointStep &joint : stage.joints) {
        if (masks[joint.input] != 0)
            run_joint(stage, joint, batch);
    }
}

// What is behind a node that let nothing pass is not even looked at: its masks are stale, and nobody else reads them.
void Plan::run_joint(Stage &stage, JointStep &joint, const mapi_batch &batch)
{
    uint64_t *const masks = stage.masks.data();
    for (const mapi_joint_passed &passed : joint.joint->run(batch, masks[joint.input])) {
        Group &group = joint.groups[passed.instance];
        if (!group.first)
            continue;
        group.first->node->count(passed.mask);
        uint64_t *output = masks + group.mask;
        *output = passed.mask;
        for (const Step *step = group.first + 1; step != group.first + group.steps; ++step) {
            const uint64_t input = masks[step->input];
            *++output = input == 0 ? 0 : step->node->run(batch, input);
        }
        if (!group.has_run)
            ran_.push_back(&group);
        group.has_run = true;
    }
}

// A node that refers to others, or to which others refer, that makes packets or is measured.
uint64_t Plan::run_step(const Step &step, const mapi_batch &batch, uint64_t input)
{
    Node &node = *step.node;
    for (uint32_t i = 0; i < step.references; ++i) {
        const Reference &reference = references_[step.first_reference + i];
        update(reference, reference.is_same_stage);
    }
    if (step.referred != kNone) {
        referred_[step.referred]->before = node.first_word();
        referred_[step.referred]->has_before = node.has_value();
    }
    if (step.meter_end && meter_)
        step.meter_end->show_measured(*meter_);
    uint64_t passed = 0;
    if (step.is_metered && meter_ && (input != 0 || node.runs_every_batch()))
        passed = node.run_metered(batch, input, *meter_);
    else if (input != 0 || node.runs_every_batch())
        passed = node.run(batch, input);
    if (step.referred != kNone)
        referred_[step.referred]->mask = node.values(batch, node.runs_every_batch() ? batch.all : input, referred_[step.referred]->values.data());
    for (uint32_t i = 0; i < step.references; ++i)
        fold(*references_[step.first_reference + i].view);
    if (step.transformed != kNone && (input == 0 || !run_transformed(step)) && stages_[step.transformed].runs_every_batch) {
        mapi_batch none = batch;
        none.all = none.wire_bytes = 0;
        run_masks(stages_[step.transformed], none);
    }
    return passed;
}

// The packets that the node has made go through the stage behind it.  False: there were none.
bool Plan::run_transformed(const Step &step)
{
    mapi_batch batch = {};
    bool has_made = false;
    for (Meter *const meter = step.is_metered ? meter_ : nullptr; step.node->next_batch(batch, meter); has_made = true)
        run(stages_[step.transformed], batch);
    return has_made;
}

void Plan::tick(uint64_t now_ns)
{
    tick(stages_[0], now_ns);
    for (Stage &stage : stages_) { // any result may have changed
        for (JointStep &joint : stage.joints) {
            for (Group &group : joint.groups) {
                if (group.first && !group.has_run)
                    ran_.push_back(&group);
                group.has_run = true;
            }
        }
    }
}

void Plan::tick(Stage &stage, uint64_t now_ns)
{
    for (const Step &step : stage.steps) {
        for (uint32_t i = 0; i < step.references; ++i)
            update(references_[step.first_reference + i], false);
        step.node->tick(now_ns);
        if (step.transformed == kNone)
            continue;
        run_transformed(step);
        tick(stages_[step.transformed], now_ns);
    }
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

// is_same_batch: it is asked for while the batch is run that the referred node has just run with.
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
        view.before = applied.node->published().first_word();
        view.has_before = 1;
        return;
    }
    view.words = reference.node->result_words();
    if (!is_same_batch) {
        view.before = reference.node->first_word();
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
