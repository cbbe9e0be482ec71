// SPDX-License-Identifier: MIT
// Bytes at a function's begin -> how many of them a call may replace.
#include "common/functions/entry_bytes.h"
#include "support/catch.hpp"

#include <vector>

namespace
{
using Bytes = std::vector<uint8_t>;

uint32_t room(Bytes bytes)
{
    bytes.insert(bytes.end(), {0x55, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}); // push, ret
    return nsf_entry_bytes(bytes.data(), bytes.size());
}
} // namespace

TEST_CASE("five single nops, as gcc writes them, have room for a call")
{
    CHECK(room({0x90, 0x90, 0x90, 0x90, 0x90}) == 5);
    CHECK(room({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}) == 5);
}

TEST_CASE("long nops, as clang writes them, are replaced as a whole")
{
    CHECK(room({0x0f, 0x1f, 0x44, 0x00, 0x08}) == 5);
    CHECK(room({0x66, 0x0f, 0x1f, 0x44, 0x00, 0x08}) == 6);
    CHECK(room({0x0f, 0x1f, 0x80, 1, 2, 3, 4}) == 7);
    CHECK(room({0x0f, 0x1f, 0x84, 0x00, 1, 2, 3, 4}) == 8);
    CHECK(room({0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 1, 2, 3, 4}) == 10);
    CHECK(room({0x66, 0x90, 0x0f, 0x1f, 0x00}) == 5);
    CHECK(room({0x0f, 0x1f, 0x40, 0x00, 0x66, 0x90}) == 6);
}

TEST_CASE("the longest entry is a nop of a byte too few and one of the longest instruction")
{
    const Bytes longest = {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f,
                           0x1f, 0x84, 0x00, 1,    2,    3,    4};
    Bytes both = {0x0f, 0x1f, 0x40, 0x00}, too_long = longest;
    both.insert(both.end(), longest.begin(), longest.end());
    too_long.insert(too_long.begin(), 0x66);
    CHECK(longest.size() == NSF_LONGEST_INSTRUCTION);
    CHECK(room(longest) == NSF_LONGEST_INSTRUCTION);
    CHECK(room(both) == NSF_LONGEST_ENTRY);
    CHECK(room(too_long) == 0); // not an instruction
}

TEST_CASE("fewer bytes than a call needs, or other instructions, are left alone")
{
    CHECK(room({}) == 0);
    CHECK(room({0x90, 0x90, 0x90, 0x90}) == 0);
    CHECK(room({0x0f, 0x1f, 0x40, 0x00}) == 0);
    CHECK(room({0x0f, 0x1f, 0x05, 1, 2, 3, 4}) == 0); // relative to the instruction
    CHECK(room({0x0f, 0x1e, 0x44, 0x00, 0x08}) == 0);
}

TEST_CASE("endbr64 stays in front of the call")
{
    const Bytes with = {0xf3, 0x0f, 0x1e, 0xfa, 0x90}, without = {0x90, 0x90, 0x90, 0x90};
    CHECK(nsf_endbr_bytes(with.data(), with.size()) == 4);
    CHECK(nsf_endbr_bytes(with.data(), 3) == 0);
    CHECK(nsf_endbr_bytes(without.data(), without.size()) == 0);
}

TEST_CASE("code that ends within an instruction has no room")
{
    const Bytes nops[] = {{0x90, 0x90, 0x90, 0x90, 0x90},
                          {0x0f, 0x1f, 0x84, 0x00, 1, 2, 3, 4},
                          {0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x44, 0x00, 0x08}};
    for (const Bytes &nop : nops) {
        CHECK(nsf_entry_bytes(nop.data(), nop.size()) == nop.size());
        for (size_t bytes = 0; bytes < nop.size(); ++bytes) {
            const Bytes cut(nop.begin(), nop.begin() + ptrdiff_t(bytes));
            CHECK(nsf_entry_bytes(cut.data(), cut.size()) == 0);
        }
    }
}
