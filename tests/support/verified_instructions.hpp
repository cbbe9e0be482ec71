// SPDX-License-Identifier: MIT
// What the verifier has done for a program.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "support/catch.hpp"

namespace test_support
{
// How many instructions the verifier has followed; since Linux 5.16.
inline uint64_t verified_instructions(int program)
{
    std::ifstream info("/proc/self/fdinfo/" + std::to_string(program));
    for (std::string key; info >> key;) {
        uint64_t value = 0;
        if (key == "verified_insns:" && info >> value)
            return value;
    }
    FAIL("the kernel does not report verified_insns");
    return 0;
}
} // namespace test_support
