// SPDX-License-Identifier: MIT
#include "cli/functions/first_instruction.hpp"
#include "support/catch.hpp"

#include <array>
#include <vector>

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

TEST_CASE("branches are found with their targets", "[nsdump][functions]")
{
    using Branch = std::array<int64_t, 3>;
    const auto branches = [](std::string_view code) {
        std::vector<Branch> all;
        nsdump::each_branch(code, [&](size_t begin, size_t end, int64_t target) {
            all.push_back({int64_t(begin), int64_t(end), target});
        });
        return all;
    };
    CHECK(branches("\x90\xeb\xfd"sv) == std::vector<Branch>{{1, 3, 0}});
    CHECK(branches("\x75\x02\x90"sv) == std::vector<Branch>{{0, 2, 4}});
    CHECK(branches("\x0f\x85\xfa\xff\xff\xff\xc3"sv) == std::vector<Branch>{{0, 6, 0}});
    CHECK(branches("\xe9\xfb\xff\xff\xff"sv) == std::vector<Branch>{{0, 5, 0}});
    CHECK(branches("\xe9\xfb\xff\xff"sv).empty());
    CHECK(branches("\x90\xeb"sv).empty());
    CHECK(branches("\x55\xc3"sv).empty());
}

TEST_CASE("the mark for indirect branches is skipped where something is behind it",
          "[nsdump][functions]")
{
    CHECK(nsdump::has_branch_mark("\xf3\x0f\x1e\xfa\x55\xc3"sv, EM_X86_64));
    CHECK_FALSE(nsdump::has_branch_mark("\xf3\x0f\x1e\xfa"sv, EM_X86_64));
    CHECK_FALSE(nsdump::has_branch_mark("\x55\xc3"sv, EM_X86_64));
    CHECK_FALSE(nsdump::has_branch_mark("\xf3\x0f\x1e\xfa\x55\xc3"sv, EM_AARCH64));
}
