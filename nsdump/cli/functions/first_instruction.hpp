// SPDX-License-Identifier: MIT
// cli: the first bytes of a function -> how the kernel executes its first instruction at a uprobe.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include <elf.h>
#include <nslice/file.h>

namespace nsdump
{
// The instructions that arch/x86/kernel/uprobes.c emulates.
inline bool is_emulated_on_x86(std::string_view code)
{
    const auto at = [&](size_t i) { return i < code.size() ? uint8_t(code[i]) : uint8_t(0); };
    const bool is_push = (at(0) & 0xf8) == 0x50 || (at(0) == 0x41 && (at(1) & 0xf8) == 0x50);
    const bool is_jump = at(0) == 0xe8 || at(0) == 0xe9 || at(0) == 0xeb ||
                         (at(0) & 0xf0) == 0x70 || (at(0) == 0x0f && (at(1) & 0xf0) == 0x80);
    return is_push || is_jump || at(0) == 0x90 || code.starts_with("\x66\x90");
}

// Whether a branch in this code may lead to this offset in it; at worst it is another instruction's
// operand that looks like one.
inline bool may_branch_to(std::string_view code, size_t target)
{
    const auto displaced = [&](size_t at, size_t bytes) {
        int32_t distance = 0;
        if (at + bytes > code.size())
            return false;
        const auto first = uint8_t(code[at]);
        if (bytes == 1)
            distance = first < 0x80 ? first : first - 0x100;
        else
            std::memcpy(&distance, code.data() + at, bytes);
        return int64_t(at + bytes) + distance == int64_t(target);
    };
    for (size_t i = 0; i + 1 < code.size(); ++i) {
        const auto byte = uint8_t(code[i]), next = uint8_t(code[i + 1]);
        const bool is_short = (byte & 0xf0) == 0x70 || (byte & 0xfc) == 0xe0 || byte == 0xeb;
        if ((is_short && displaced(i + 1, 1)) || (byte == 0xe9 && displaced(i + 1, 4)) ||
            (byte == 0x0f && (next & 0xf0) == 0x80 && displaced(i + 2, 4)))
            return true;
    }
    return false;
}

// Where the uprobes of a function are: behind the mark for indirect branches, which the kernel does
// not emulate, unless a loop begins there.
inline size_t probe_place(std::string_view code, unsigned machine)
{
    constexpr std::string_view kMark = "\xf3\x0f\x1e\xfa";
    return machine == EM_X86_64 && code.starts_with(kMark) && !may_branch_to(code, kMark.size())
               ? kMark.size()
               : 0;
}

// NSLICE_WAY_UPROBE_*.
inline uint8_t way_by_uprobe(std::string_view code, unsigned machine)
{
    constexpr std::string_view kLongNop("\x0f\x1f\x44\x00\x00", 5);
    if (machine != EM_X86_64)
        return NSLICE_WAY_UPROBE_STEPPED;
    if (code.starts_with(kLongNop))
        return NSLICE_WAY_UPROBE_OPTIMISED;
    return is_emulated_on_x86(code) ? NSLICE_WAY_UPROBE_EMULATED : NSLICE_WAY_UPROBE_STEPPED;
}
} // namespace nsdump
