// SPDX-License-Identifier: MIT
// cli: this processor -> folders with shared objects for it.
#include "cli/functions/hardware_folders.hpp"

#if defined(__x86_64__)
#ifdef __clang__
#define _Bool bool // which the next header uses, and clang has only in C
#endif
#include <sys/platform/x86.h>
#endif

namespace nsdump
{
// The levels and their features are those of glibc; there are none for arm64.
std::vector<std::string> hardware_folders()
{
    std::vector<std::string> folders;
#if defined(__x86_64__)
    const bool has_2 = CPU_FEATURE_ACTIVE(CMPXCHG16B) && CPU_FEATURE_ACTIVE(LAHF64_SAHF64) &&
                       CPU_FEATURE_ACTIVE(POPCNT) && CPU_FEATURE_ACTIVE(SSE3) &&
                       CPU_FEATURE_ACTIVE(SSE4_1) && CPU_FEATURE_ACTIVE(SSE4_2) &&
                       CPU_FEATURE_ACTIVE(SSSE3);
    const bool has_3 = has_2 && CPU_FEATURE_ACTIVE(AVX) && CPU_FEATURE_ACTIVE(AVX2) &&
                       CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(BMI2) &&
                       CPU_FEATURE_ACTIVE(F16C) && CPU_FEATURE_ACTIVE(FMA) &&
                       CPU_FEATURE_ACTIVE(LZCNT) && CPU_FEATURE_ACTIVE(MOVBE);
    const bool has_4 = has_3 && CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW) &&
                       CPU_FEATURE_ACTIVE(AVX512CD) && CPU_FEATURE_ACTIVE(AVX512DQ) &&
                       CPU_FEATURE_ACTIVE(AVX512VL);
    if (has_4)
        folders.emplace_back("glibc-hwcaps/x86-64-v4");
    if (has_3)
        folders.emplace_back("glibc-hwcaps/x86-64-v3");
    if (has_2)
        folders.emplace_back("glibc-hwcaps/x86-64-v2");
#endif
    return folders;
}
} // namespace nsdump
