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
    constexpr int kUnrolled = Code::unrolled(kUnits);
    constexpr bool kIsLoop = kUnits > Code::kLongestStraight;
    if constexpr (kIsLoop)
        for (int rounds = kUnits / kUnrolled; rounds > 0; --rounds)
            code.template straight<kUnrolled>();
    code.template straight<kIsLoop ? kUnits % kUnrolled : kUnits>();
}

// What the pairs inside a slice enclose.
enum class Pairs { kEmpty, kAroundWork };

// What is in the places of the pairs' probes.
enum class Places {
    kProbes,
    kEmptyAsm, // no instructions; to the compiler they change the same registers as a probe
    kNothing,
};

template <Places kPlaces> inline __attribute__((always_inline)) void empty_asm()
{
    if constexpr (kPlaces == Places::kEmptyAsm)
        __asm__ volatile("" : : : NSP_DETAIL_CLOBBERS, NSP_DETAIL_SITE_REGISTER);
}

constexpr bool has_pair(int pairs, int seam)
{
    return (seam + 1) * pairs / kSeams > seam * pairs / kSeams;
}

// kBefore: units of the parts before it that no pair follows.
template <int kUnits, int kPairs, Pairs kKind, Places kPlaces, int kPart, int kBefore, class Code>
inline __attribute__((always_inline)) void part(Code &code)
{
    constexpr int kOwn = (kPart + 1) * kUnits / kParts - kPart * kUnits / kParts;
    constexpr bool kHasPair = kPart < kSeams && has_pair(kPairs, kPart);
    constexpr int kInside = kHasPair && kKind == Pairs::kAroundWork ? kOwn / 2 : 0;
    if constexpr (kHasPair || kPart == kSeams)
        run_units<kBefore + kOwn - kInside>(code);
    if constexpr (kHasPair) {
        if constexpr (kPlaces == Places::kProbes)
            NET_SLICE_START(inside);
        empty_asm<kPlaces>();
        run_units<kInside>(code);
        if constexpr (kPlaces == Places::kProbes)
            NET_SLICE_STOP(inside);
        empty_asm<kPlaces>();
    }
    if constexpr (kPart < kSeams)
        part<kUnits, kPairs, kKind, kPlaces, kPart + 1, kHasPair ? 0 : kBefore + kOwn>(code);
}

template <int kUnits, int kPairs, Pairs kKind, Places kPlaces, class Code>
inline __attribute__((always_inline)) void work(Code &code)
{
    part<kUnits, kPairs, kKind, kPlaces, 0, 0>(code);
}
} // namespace bench
