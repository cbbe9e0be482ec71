// SPDX-License-Identifier: MIT
#include "cli/functions/first_instruction.hpp"
#include "support/catch.hpp"

using namespace std::string_view_literals;

TEST_CASE("instructions that the kernel emulates are distinguished from those that it steps",
          "[nsdump][functions]")
{
    for (const std::string_view code :
         {"\x55"sv, "\x41\x57"sv, "\x90"sv, "\x66\x90"sv, "\xe8\0\0\0\0"sv, "\xeb\x05"sv,
          "\x74\x05"sv, "\x0f\x84\0\0\0\0"sv})
        CHECK(nsdump::way_by_uprobe(code, EM_X86_64) == NSLICE_WAY_UPROBE_EMULATED);
    for (const std::string_view code : {"\x31\xc0"sv, "\x48\x83\xec\x08"sv, "\xc3"sv,
                                        "\xf3\x0f\x1e\xfa"sv, "\x41\x89\xf8"sv, ""sv})
        CHECK(nsdump::way_by_uprobe(code, EM_X86_64) == NSLICE_WAY_UPROBE_STEPPED);
    CHECK(nsdump::way_by_uprobe("\x0f\x1f\x44\0\0"sv, EM_X86_64) == NSLICE_WAY_UPROBE_OPTIMISED);
    CHECK(nsdump::way_by_uprobe("\x55"sv, EM_AARCH64) == NSLICE_WAY_UPROBE_STEPPED);
}

TEST_CASE("the mark for indirect branches is skipped unless a branch leads behind it",
          "[nsdump][functions]")
{
    CHECK(nsdump::probe_place("\xf3\x0f\x1e\xfa\x55\xc3"sv, EM_X86_64) == 4);
    CHECK(nsdump::probe_place("\x55\xc3"sv, EM_X86_64) == 0);
    CHECK(nsdump::probe_place("\xf3\x0f\x1e\xfa\x55\xc3"sv, EM_AARCH64) == 0);
    // jmp, jne and jmp with 4 bytes, back to offset 4
    CHECK(nsdump::probe_place("\xf3\x0f\x1e\xfa\x90\xeb\xfd"sv, EM_X86_64) == 0);
    CHECK(nsdump::probe_place("\xf3\x0f\x1e\xfa\x0f\x85\xfa\xff\xff\xff\xc3"sv, EM_X86_64) == 0);
    CHECK(nsdump::probe_place("\xf3\x0f\x1e\xfa\xe9\xfb\xff\xff\xff"sv, EM_X86_64) == 0);
    // to another offset
    CHECK(nsdump::probe_place("\xf3\x0f\x1e\xfa\x90\x90\xeb\xfd"sv, EM_X86_64) == 4);
}
