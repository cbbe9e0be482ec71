// SPDX-License-Identifier: MIT
// This process as the owner of the rings of BPF programs, as nsbpf/src/owner.cpp has it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include <nslice/bpf_site.h>
#include <unistd.h>

namespace test_support
{
inline uint64_t rings_owner()
{
    std::ifstream file("/proc/self/stat");
    std::string field, start;
    file.ignore(1 << 12, ')');
    for (int number = 3; number <= 22 && file >> field; ++number)
        start = field;
    return NSLICE_BPF_OWNER(getpid(), std::stoull(start));
}
} // namespace test_support
