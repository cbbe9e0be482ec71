// SPDX-License-Identifier: MIT
// Work of a known length with places for probes: a chain of dependent multiplications.
#pragma once

#include <cstdint>

#include <nsprobe/probe.h>

namespace bench
{
inline constexpr int kSeams = 32;
inline constexpr int kParts = kSeams + 1;
inline constexpr int kUnrolled = 16;
inline constexpr int kLongestStraight =
    64; // longer parts are loops, so that the code of a case fits the first-level cache

// The loop counter runs ahead of the chain, so neither it nor the last branch takes time.
template <int kMultiplications> inline __attribute__((always_inline)) void multiply(uint64_t &x)
{
    constexpr bool kIsLoop = kMultiplications > kLongestStraight;
    constexpr int kStraight = kIsLoop ? kMultiplications % kUnrolled : kMultiplications;
    if constexpr (kIsLoop) {
        uint64_t rounds = kMultiplications / kUnrolled;
        __asm__ volatile(
            "1:\n\t.rept %c[unrolled]\n\timul %[x], %[x]\n\t.endr\n\tdec %[rounds]\n\tjnz 1b"
            : [x] "+r"(x), [rounds] "+r"(rounds)
            : [unrolled] "i"(kUnrolled));
    }
    __asm__ volatile(".rept %c[straight]\n\timul %[x], %[x]\n\t.endr"
                     : [x] "+r"(x)
                     : [straight] "i"(kStraight));
}

// What the pairs inside a slice enclose.
enum class Pairs { kEmpty, kAroundWork };

constexpr bool has_pair(int pairs, int seam)
{
    return (seam + 1) * pairs / kSeams > seam * pairs / kSeams;
}

template <int kMultiplications, int kPairs, Pairs kKind, int kPart>
inline __attribute__((always_inline)) void part(uint64_t &x)
{
    constexpr int kOwn =
        (kPart + 1) * kMultiplications / kParts - kPart * kMultiplications / kParts;
    constexpr bool kHasPair = kPart < kSeams && has_pair(kPairs, kPart);
    constexpr int kInside = kHasPair && kKind == Pairs::kAroundWork ? kOwn / 2 : 0;
    multiply<kOwn - kInside>(x);
    if constexpr (kHasPair) {
        NET_SLICE_START(inside);
        multiply<kInside>(x);
        NET_SLICE_STOP(inside);
    }
    if constexpr (kPart < kSeams)
        part<kMultiplications, kPairs, kKind, kPart + 1>(x);
}

// The same parts for any kPairs: without probes in between they form one chain.
template <int kMultiplications, int kPairs, Pairs kKind>
inline __attribute__((always_inline)) void work(uint64_t &x)
{
    part<kMultiplications, kPairs, kKind, 0>(x);
}
} // namespace bench
