// SPDX-License-Identifier: MIT
// The cells of the time benchmark: slices of 50 ns to 1 ms with 0 to 32 pairs inside, and the same
// work without probes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "machine.hpp"
#include "time_code.hpp"
#include "time_work.hpp"

namespace bench
{
struct Span {
    uint64_t begin, ticks;
};

// Slices of work with a number of pairs inside, and the same code without probes.
struct Cell {
    int pairs;
    std::string name; // of the slice
    nsp_slice *slice;
    nsp_slice *warm;   // the same before a group, which are not compared
    nsp_slice *around; // several of them, so that their cost there is measured as well
    void (*run)(nsp_slice *, int slices);
    Span (*time_one)(); // one round of the code without probes
    Span (*time_two)(); // two, without a branch between them; null if rounds are long
    uint64_t (*time_bare)(int rounds); // in a loop; ticks
    uint64_t (*time_empty_asm)(
        int rounds); // the same with empty asm statements in the probes' places
};

// One length of work with all its cells.
struct Length {
    double nominal_ns;
    int group; // slices of a cell, one after the other
    std::vector<Cell> cells;
};

// Slices of a group, and rounds without probes, before those that are compared: they train caches
// and predictors.  Rounds of a millisecond are warm by themselves.
inline int warm_rounds(const Length &length)
{
    constexpr double kLongNs = 1e6;
    return length.nominal_ns < kLongNs ? length.group / 4 + 2 : 0;
}

// Functions whose times are compared begin at the start of a page: their lowest 12 address bits are
// equal.
#define BENCH_PAGE_ALIGNED __attribute__((aligned(4096)))

template <class Code, int kUnits, int kPairs, Pairs kKind, Places kPlaces>
BENCH_PAGE_ALIGNED uint64_t time_without_probes(int rounds)
{
    Code code;
    const uint64_t begin = fenced_ticks();
    for (int i = 0; i < rounds; ++i)
        work<kUnits, kPairs, kKind, kPlaces>(code);
    return fenced_ticks() - begin;
}

template <class Code, int kUnits, int kPairs, Pairs kKind, int kRounds>
BENCH_PAGE_ALIGNED Span time_copies()
{
    Code code;
    const uint64_t begin = fenced_ticks();
    work<kUnits, kPairs, kKind, Places::kNothing>(code);
    if constexpr (kRounds == 2)
        work<kUnits, kPairs, kKind, Places::kNothing>(code);
    return {begin, fenced_ticks() - begin};
}

template <class Code, int kUnits, int kPairs, Pairs kKind>
BENCH_PAGE_ALIGNED void run_sliced(nsp_slice *slice, int slices)
{
    Code code;
    for (int i = 0; i < slices; ++i) {
        NET_SLICE_START_AT(slice);
        work<kUnits, kPairs, kKind, Places::kProbes>(code);
        NET_SLICE_STOP_AT(slice);
    }
}

inline nsp_slice *make_slice(const std::string &name)
{
    return nsp_slice_create(name.c_str(), __FILE__, __LINE__);
}

// All kinds of code use the same names: a session thins no more than 256.
template <class Code, int kUnits, int kPairs, Pairs kKind, bool kIsShort>
Cell make_cell(double nominal_ns)
{
    Span (*time_two)() = nullptr;
    if constexpr (kIsShort)
        time_two = time_copies<Code, kUnits, kPairs, kKind, 2>;
    const std::string name =
        "ns" + std::to_string(long(nominal_ns)) + "_pairs" + std::to_string(kPairs);
    return {kPairs,
            name,
            make_slice(name),
            make_slice("warm"),
            make_slice("around_" + name),
            run_sliced<Code, kUnits, kPairs, kKind>,
            time_copies<Code, kUnits, kPairs, kKind, 1>,
            time_two,
            time_without_probes<Code, kUnits, kPairs, kKind, Places::kNothing>,
            time_without_probes<Code, kUnits, kPairs, kKind, Places::kEmptyAsm>};
}

using PairNumbers = std::integer_sequence<int, 0, 1, 2, 4, 8, 16, 32>;
using MorePairNumbers = std::integer_sequence<int, 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32>;

// Longest rounds of which two are timed together, in units of three cycles.  A host's disturbances
// hit some spans, as they do slices, and those are trimmed; spans of two long rounds would contain
// more of them.
inline constexpr int kLongestOfTwo = 120;

template <class Code, Pairs kKind, int kThreeCycles, int... kPairs>
Length make_length(double nominal_ns, int group, std::integer_sequence<int, kPairs...>)
{
    constexpr int kUnits = int(int64_t{kThreeCycles} * Code::kUnitsPer100 / 100);
    constexpr bool kIsShort = kThreeCycles <= kLongestOfTwo;
    return {nominal_ns, group, {make_cell<Code, kUnits, kPairs, kKind, kIsShort>(nominal_ns)...}};
}

// Lengths in multiples of three cycles.  A group takes much less than an epoch of random thinning.
template <class Code, Pairs kKind> std::vector<Length> make_lengths()
{
    return {make_length<Code, kKind, 58>(50, 200, PairNumbers()),
            make_length<Code, kKind, 117>(100, 200, MorePairNumbers()),
            make_length<Code, kKind, 233>(200, 150, PairNumbers()),
            make_length<Code, kKind, 583>(500, 100, PairNumbers()),
            make_length<Code, kKind, 1167>(1e3, 60, PairNumbers()),
            make_length<Code, kKind, 11670>(1e4, 10, PairNumbers()),
            make_length<Code, kKind, 116700>(1e5, 1, PairNumbers()),
            make_length<Code, kKind, 1167000>(1e6, 1, PairNumbers())};
}
} // namespace bench
