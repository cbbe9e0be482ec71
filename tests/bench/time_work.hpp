// SPDX-License-Identifier: MIT
// Work of a known length with places for probes.
#pragma once

#include <nsprobe/probe.h>

namespace bench
{
inline constexpr int kSeams = 32;
inline constexpr int kParts = kSeams + 1;

// The loop counter runs ahead of the work, so neither it nor the last branch takes time.
template <int kUnits, class Code> inline __attribute__((always_inline)) void run_units(Code &code)
{
    constexpr int kUnrolled = Code::kUnrolled;
    constexpr bool kIsLoop = kUnits > Code::kLongestStraight;
    if constexpr (kIsLoop)
        for (int rounds = kUnits / kUnrolled; rounds > 0; --rounds)
            code.template straight<kUnrolled>();
    code.template straight<kIsLoop ? kUnits % kUnrolled : kUnits>();
}

// What the pairs inside a slice enclose.
enum class Pairs { kEmpty, kAroundWork };

constexpr bool has_pair(int pairs, int seam)
{
    return (seam + 1) * pairs / kSeams > seam * pairs / kSeams;
}

template <int kUnits, int kPairs, Pairs kKind, int kPart, class Code>
inline __attribute__((always_inline)) void part(Code &code)
{
    constexpr int kOwn = (kPart + 1) * kUnits / kParts - kPart * kUnits / kParts;
    constexpr bool kHasPair = kPart < kSeams && has_pair(kPairs, kPart);
    constexpr int kInside = kHasPair && kKind == Pairs::kAroundWork ? kOwn / 2 : 0;
    run_units<kOwn - kInside>(code);
    if constexpr (kHasPair) {
        NET_SLICE_START(inside);
        run_units<kInside>(code);
        NET_SLICE_STOP(inside);
    }
    if constexpr (kPart < kSeams)
        part<kUnits, kPairs, kKind, kPart + 1>(code);
}

// The same parts for any kPairs: without probes in between they form one piece.
template <int kUnits, int kPairs, Pairs kKind, class Code>
inline __attribute__((always_inline)) void work(Code &code)
{
    part<kUnits, kPairs, kKind, 0>(code);
}
} // namespace bench
