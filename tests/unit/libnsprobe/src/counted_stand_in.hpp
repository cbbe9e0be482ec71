// SPDX-License-Identifier: MIT
// A function that the assembly of START and STOP calls instead of rdpmc; what they write.
#pragma once

#include <cstdint>
#include <vector>

#include "counter_fixture.hpp"

using Words = std::vector<uint64_t>;

// A record as the ring has it.
struct Record {
    unsigned kind;
    Words words;
};

extern "C" {
__attribute__((used)) inline uint64_t stand_in_answer(uint32_t index)
{
    return stand_in.next(index);
}
}

// What this test's copy of the assembly calls instead of rdpmc: a signal would end its attempt.
// Preserves all registers except those of the instruction's result.
__asm__(".text\n"
        "stand_in_read:\n\t"
        "push %rbp\n\t"
        "mov %rsp, %rbp\n\t"
        "push %rcx\n\t"
        "push %rsi\n\t"
        "push %rdi\n\t"
        "push %r8\n\t"
        "push %r9\n\t"
        "push %r10\n\t"
        "push %r11\n\t"
        "sub $576, %rsp\n\t"
        "and $-16, %rsp\n\t"
        "fxsave (%rsp)\n\t"
        "mov %ecx, %edi\n\t"
        "call stand_in_answer\n\t"
        "mov %rax, %rdx\n\t"
        "mov %eax, %eax\n\t"
        "shr $32, %rdx\n\t"
        "fxrstor (%rsp)\n\t"
        "lea -56(%rbp), %rsp\n\t"
        "pop %r11\n\t"
        "pop %r10\n\t"
        "pop %r9\n\t"
        "pop %r8\n\t"
        "pop %rdi\n\t"
        "pop %rsi\n\t"
        "pop %rcx\n\t"
        "pop %rbp\n\t"
        "ret\n"
        ".globl stand_in_read");
