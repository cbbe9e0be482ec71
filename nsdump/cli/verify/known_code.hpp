// SPDX-License-Identifier: MIT
// Code whose number of instructions is known, because all of them are in the assembly text.
#pragma once

#include <cstdint>

#include <nsprobe/probe.h>

// KNOWN_CODE(n): n instructions, an even number of at least KNOWN_LEAST.  KNOWN_SYSTEM_CALL: five;
// the arguments are registers.

#if defined(__x86_64__)
#define KNOWN_LEAST 4
#define KNOWN_CODE(n)                                                \
    __asm__ volatile("mov %0, %%eax\n1:\tdec %%eax\n\tjnz 1b\n\tnop" \
                     :                                               \
                     : "i"(((n)-2) / 2)                              \
                     : "rax", "cc")
#define KNOWN_SYSTEM_CALL(number, first, second, third)                                            \
    __asm__ volatile("mov %0, %%eax\n\tmov %1, %%rdi\n\tmov %2, %%rsi\n\tmov %3, %%rdx\n\tsyscall" \
                     :                                                                             \
                     : "i"(number), "r"(first), "r"(second), "r"(third)                            \
                     : "rax", "rdi", "rsi", "rdx", "rcx", "r11", "memory")
#elif defined(__aarch64__)
#define KNOWN_LEAST 4
#define KNOWN_CODE(n)                                                                          \
    __asm__ volatile("movz w11, %0\n\tmovk w11, %1, lsl #16\n1:\tsubs w11, w11, #1\n\tb.ne 1b" \
                     :                                                                         \
                     : "i"((((n)-2) / 2) & 0xffff), "i"((((n)-2) / 2) >> 16)                   \
                     : "x11", "cc")
#define KNOWN_SYSTEM_CALL(number, first, second, third)                               \
    __asm__ volatile("mov x8, %0\n\tmov x0, %1\n\tmov x1, %2\n\tmov x2, %3\n\tsvc #0" \
                     :                                                                \
                     : "i"(number), "r"(first), "r"(second), "r"(third)               \
                     : "x0", "x1", "x2", "x8", "memory")
#endif

// A value that is kept in a register from here on, so that using it takes no instruction.
template <class T> uint64_t in_register(T value)
{
    auto bits = (uint64_t)value;
    __asm__ volatile("" : "+r"(bits));
    return bits;
}

#define AROUND(name, code) \
    NET_SLICE_START(name); \
    code;                  \
    NET_SLICE_STOP(name)

#define FIVE_TIMES(...) \
    __VA_ARGS__;        \
    __VA_ARGS__;        \
    __VA_ARGS__;        \
    __VA_ARGS__;        \
    __VA_ARGS__
#define TEN_TIMES(...) \
    __VA_ARGS__;       \
    __VA_ARGS__;       \
    __VA_ARGS__;       \
    __VA_ARGS__;       \
    __VA_ARGS__;       \
    __VA_ARGS__;       \
    __VA_ARGS__;       \
    __VA_ARGS__;       \
    __VA_ARGS__;       \
    __VA_ARGS__

// A macro does not expand inside itself, so each level has its own names.
#define TEN_TIMES_WITHIN(...) \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__
#define TEN_TIMES_INMOST(...) \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__;              \
    __VA_ARGS__
#define HUNDRED_TIMES(...) TEN_TIMES(TEN_TIMES_WITHIN(__VA_ARGS__))
#define THOUSAND_TIMES(...) TEN_TIMES(TEN_TIMES_WITHIN(TEN_TIMES_INMOST(__VA_ARGS__)))
