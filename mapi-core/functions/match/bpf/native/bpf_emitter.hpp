// SPDX-License-Identifier: MIT
// BPF emitter: the part common to all processors: which steps become code, in which order, and
// where they go.
#pragma once

#include <asmjit/core.h>

#include <cstdint>
#include <vector>

#include "bpf_bounds.hpp"
#include "match/bpf/bpf_step.hpp"

namespace mapi::match
{
// One loop over the set bits of the mask, with the program as its body.
class BpfEmitter
{
public:
    BpfEmitter(BpfSteps steps, asmjit::BaseEmitter &emitter);
    virtual ~BpfEmitter() = default;

    void emit();

protected:
    enum class Register { kA, kX };

    // Initially no packet matches.
    virtual void emit_entry() = 0;
    // Jumps to done_ if no packet is left; loop_: takes the next packet, with A and X zero.
    virtual void emit_loop_begin() = 0;
    virtual void emit_accept() = 0;
    // Jumps to loop_ while packets are left.
    virtual void emit_loop_end() = 0;
    virtual void emit_exit() = 0;

    virtual void emit_constant(Register to, uint32_t value) = 0;
    virtual void emit_move(Register to, Register from) = 0;
    virtual void emit_scratch_load(Register to, uint32_t word) = 0;
    virtual void emit_scratch_store(uint32_t word, Register from) = 0;
    virtual void emit_wire_bytes(Register to) = 0;
    virtual void emit_header_length(uint32_t offset) = 0;
    virtual void emit_packet_load(const bpf_insn &step, bool swaps) = 0;
    // Jumps to reject_ if fewer bytes, or fewer than X plus these, were captured.
    virtual void emit_check(uint32_t bytes) = 0;
    virtual void emit_check_past_x(uint32_t bytes) = 0;

    virtual void emit_alu(const bpf_insn &step, uint32_t constant) = 0;
    virtual void emit_compare(const bpf_insn &step, uint32_t constant) = 0;
    // After emit_compare(): branches if the step's condition holds, or if it does not.
    virtual void emit_branch_if(const bpf_insn &step, bool holds, const asmjit::Label &to) = 0;
    // The last test of a filter is the one that branch predictors cannot learn, so its outcome
    // becomes a bit without a branch.  Continues with the next packet, or at done_.
    virtual void emit_decision(const bpf_insn &step, bool holds) = 0;
    virtual void prepare_decision() {} // called before emit_compare()
    virtual void emit_branch(const asmjit::Label &to) = 0;
    // Accepts or rejects depending on whether A is zero.
    virtual void emit_return() = 0;

    BpfSteps steps() const { return steps_; }
    bool is_accept_at_once() const { return is_accept(0); }
    uint64_t needed_at_once() const { return bounds_[0].needed_bytes; }

    asmjit::Label accept_;
    asmjit::Label reject_;
    asmjit::Label loop_;
    asmjit::Label done_;

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
    asmjit::Label label_of(size_t at) const
    {
        return is_reject(at) ? reject_ : is_accept(at) ? accept_ : labels_[at];
    }
    uint32_t constant_of(size_t at) const;

    BpfSteps steps_;
    asmjit::BaseEmitter &emitter_;
    std::vector<StepBounds> bounds_;
    std::vector<uint8_t> unswapped_;
    std::vector<asmjit::Label> labels_;
};
} // namespace mapi::match
