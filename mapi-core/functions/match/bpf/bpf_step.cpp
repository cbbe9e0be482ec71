// SPDX-License-Identifier: MIT
// The list of instructions that libpcap's interpreter runs.
#include "bpf_step.hpp"

namespace mapi::match
{
namespace
{
bool is_known_alu(uint16_t code) noexcept
{
    if ((code & ~(0x07 | 0xf0 | 0x08)) != 0)
        return false;
    switch (BPF_OP(code)) {
    case BPF_ADD:
    case BPF_SUB:
    case BPF_MUL:
    case BPF_DIV:
    case BPF_MOD:
    case BPF_AND:
    case BPF_OR:
    case BPF_XOR:
    case BPF_LSH:
    case BPF_RSH: return true;
    case BPF_NEG: return BPF_SRC(code) == BPF_K;
    default: return false;
    }
}

bool is_known_jump(uint16_t code) noexcept
{
    if ((code & ~(0x07 | 0xf0 | 0x08)) != 0)
        return false;
    switch (BPF_OP(code)) {
    case BPF_JA: return BPF_SRC(code) == BPF_K;
    case BPF_JEQ:
    case BPF_JGT:
    case BPF_JGE:
    case BPF_JSET: return true;
    default: return false;
    }
}
} // namespace

bool is_known_step(const bpf_insn &step) noexcept
{
    switch (step.code) {
    case BPF_LD | BPF_W | BPF_ABS:
    case BPF_LD | BPF_H | BPF_ABS:
    case BPF_LD | BPF_B | BPF_ABS:
    case BPF_LD | BPF_W | BPF_IND:
    case BPF_LD | BPF_H | BPF_IND:
    case BPF_LD | BPF_B | BPF_IND:
    case BPF_LD | BPF_W | BPF_LEN:
    case BPF_LD | BPF_IMM:
    case BPF_LD | BPF_MEM:
    case BPF_LDX | BPF_W | BPF_LEN:
    case BPF_LDX | BPF_MSH | BPF_B:
    case BPF_LDX | BPF_IMM:
    case BPF_LDX | BPF_MEM:
    case BPF_ST:
    case BPF_STX:
    case BPF_RET | BPF_K:
    case BPF_RET | BPF_A:
    case BPF_MISC | BPF_TAX:
    case BPF_MISC | BPF_TXA: return true;
    default:
        return (BPF_CLASS(step.code) == BPF_ALU && is_known_alu(step.code)) ||
               (BPF_CLASS(step.code) == BPF_JMP && is_known_jump(step.code));
    }
}
} // namespace mapi::match
