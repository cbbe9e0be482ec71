// SPDX-License-Identifier: MIT
// environment: cpuid -> hypervisor's name, whether the time stamp counter keeps its rate.
#include <cpuid.h>

#include <cstring>

#include "environment.hpp"

namespace calibrate
{
namespace
{
std::string hypervisor()
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
        return "none";
    unsigned words[3];
    char name[sizeof(words) + 1] = "";
    __cpuid(0x40000000, a, words[0], words[1], words[2]);
    std::memcpy(name, words, sizeof(words));
    return name[0] ? name : "yes";
}
} // namespace

CpuFlags cpu_flags()
{
    unsigned a, b, c, d;
    const bool is_invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
    return {"x86_64", "tsc", hypervisor(), is_invariant};
}
} // namespace calibrate
