// SPDX-License-Identifier: MIT
// BPF emitter: the part common to all processors: which steps become code, in which order, and
// where they go.
#pragma once

#include <cstdint>
#include <vector>

#include "bpf_bounds.hpp"
#include "match/bpf/bpf_step.hpp"

namespace mapi::match
{
// A place in the emitted code: a number below BpfEmitter::count_labels().
struct BpfLabel {
    uint32_t number;

    bool operator==(const BpfLabel &) const = default;
};

// One loop over the set bits of the mask, with the program as its body; a program for the kernel
// has one packet, and its loop ends after that.
class BpfEmitter
{
public:
    explicit BpfEmitter(BpfSteps steps, PastX past_x = PastX::kProvesBytes);
    virtual ~BpfEmitter() = default;

    void emit();

protected:
    enum class Register { kA, kX };

    virtual void emit_bind(BpfLabel label) = 0;

    // Initially no packet matches.
    virtual void emit_entry() = 0;
    // Jumps to kDone if no packet is left; kLoop: takes the next packet, with A and X zero.
    virtual void emit_loop_begin() = 0;
    virtual void emit_accept() = 0;
    // Jumps to kLoop while packets are left.
    virtual void emit_loop_end() = 0;
    virtual void emit_exit() = 0;

    virtual void emit_constant(Register to, uint32_t value) = 0;
    virtual void emit_move(Register to, Register from) = 0;
    virtual void emit_scratch_load(Register to, uint32_t word) = 0;
    virtual void emit_scratch_store(uint32_t word, Register from) = 0;
    virtual void emit_wire_bytes(Register to) = 0;
    virtual void emit_header_length(uint32_t offset) = 0;
    virtual void emit_packet_load(const bpf_insn &step, bool swaps) = 0;
    // Jumps to kReject if fewer bytes, or fewer than X plus these, were captured.
    virtual void emit_check(uint32_t bytes) = 0;
    virtual void emit_check_past_x(uint32_t bytes) = 0;

    virtual void emit_alu(const bpf_insn &step, uint32_t constant) = 0;
    virtual void emit_compare(const bpf_insn &step, uint32_t constant) = 0;
    // After emit_compare(): branches if the step's condition holds, or if it does not.
    virtual void emit_branch_if(const bpf_insn &step, bool holds, BpfLabel to) = 0;
    // The last test of a filter is the one that branch predictors cannot learn, so its outcome
    // becomes a bit without a branch.  Continues with the next packet, or at kDone.
    virtual void emit_decision(const bpf_insn &step, bool holds) = 0;
    virtual void prepare_decision() {} // called before emit_compare()
    virtual void emit_branch(BpfLabel to) = 0;
    // Accepts or rejects depending on whether A is zero.
    virtual void emit_return() = 0;

    BpfSteps steps() const { return steps_; }
    bool is_accept_at_once() const { return is_accept(0); }
    uint32_t needed_at_once() const;

    size_t count_labels() const { return kFirstStep + steps_.size(); }

    static constexpr BpfLabel kAccept = {0};
    static constexpr BpfLabel kReject = {1};
    static constexpr BpfLabel kLoop = {2};
    static constexpr BpfLabel kDone = {3};

private:
    void emit_step(size_t at);
    void emit_load(size_t at);
    void emit_jump(size_t at);
    void jump_to(size_t target, size_t next);

    bool is_reject(size_t at) const { return bounds_[at].is_always_rejected(); }
    bool is_accept(size_t at) const
    {
        return steps_[at].code == (BPF_RET | BPF_K) && steps_[at].k != 0;
    }
    static BpfLabel label_at(size_t at) { return {kFirstStep + uint32_t(at)}; }
    BpfLabel label_of(size_t at) const
    {
        return is_reject(at) ? kReject : is_accept(at) ? kAccept : label_at(at);
    }
    uint32_t constant_of(size_t at) const;

    static constexpr uint32_t kFirstStep = 4;

    BpfSteps steps_;
    std::vector<StepBounds> bounds_;
    std::vector<uint8_t> unswapped_;
};
} // namespace mapi::match
