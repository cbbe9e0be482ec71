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

// Calls found(begin, end, target), places in this code, for each instruction that may be a branch;
// at worst it is another instruction's operand that looks like one.
template <class Found> void each_branch(std::string_view code, Found found)
{
    const auto displaced = [&](size_t begin, size_t at, size_t bytes) {
        int32_t distance = 0;
        if (at + bytes > code.size())
            return;
        const auto first = uint8_t(code[at]);
        if (bytes == 1)
            distance = first < 0x80 ? first : first - 0x100;
        else
            std::memcpy(&distance, code.data() + at, bytes);
        found(begin, at + bytes, int64_t(at + bytes) + distance);
    };
    for (size_t i = 0; i + 1 < code.size(); ++i) {
        const auto byte = uint8_t(code[i]), next = uint8_t(code[i + 1]);
        if ((byte & 0xf0) == 0x70 || (byte & 0xfc) == 0xe0 || byte == 0xeb)
            displaced(i, i + 1, 1);
        else if (byte == 0xe9)
            displaced(i, i + 1, 4);
        else if (byte == 0x0f && (next & 0xf0) == 0x80)
            displaced(i, i + 2, 4);
    }
}

// The mark for indirect branches, which the kernel does not emulate, and something behind it, where
// uprobes are unless a loop begins there.
constexpr size_t kBranchMarkBytes = 4;
inline bool has_branch_mark(std::string_view code, unsigned machine)
{
    return machine == EM_X86_64 && code.size() > kBranchMarkBytes &&
           code.starts_with("\xf3\x0f\x1e\xfa");
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
