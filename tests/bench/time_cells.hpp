// SPDX-License-Identifier: MIT
// The cells of the time benchmark: slices of 50 ns to 1 ms with 0 to 32 pairs inside, and the same
// work without probes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "machine.hpp"
#include "time_work.hpp"

namespace bench
{
// Slices of the same work with a number of pairs inside.
struct Cell {
    int pairs;
    std::string name; // of the slice
    nsp_slice *slice;
    void (*run)(nsp_slice *, int slices);
};

// One length of work with all its cells.
struct Length {
    double nominal_ns;
    int slices;                        // of each cell, in one batch
    int span;                          // rounds of bare work that are timed together
    uint64_t (*time_bare)(int rounds); // ticks
    std::vector<Cell> cells;
};

template <int kMultiplications> uint64_t time_bare(int rounds)
{
    uint64_t x = 3;
    const uint64_t begin = fenced_ticks();
    for (int i = 0; i < rounds; ++i)
        work<kMultiplications, 0>(x);
    return fenced_ticks() - begin;
}

template <int kMultiplications, int kPairs> void run_sliced(nsp_slice *slice, int slices)
{
    uint64_t x = 3;
    for (int i = 0; i < slices; ++i) {
        NET_SLICE_START_AT(slice);
        work<kMultiplications, kPairs>(x);
        NET_SLICE_STOP_AT(slice);
    }
}

template <int kMultiplications, int kPairs> Cell make_cell()
{
    const std::string name =
        "work" + std::to_string(kMultiplications) + "_pairs" + std::to_string(kPairs);
    return {kPairs, name, nsp_slice_create(name.c_str(), __FILE__, __LINE__),
            run_sliced<kMultiplications, kPairs>};
}

using PairNumbers = std::integer_sequence<int, 0, 1, 2, 4, 8, 16, 32>;
using MorePairNumbers = std::integer_sequence<int, 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32>;

template <int kMultiplications, int... kPairs>
Length make_length(double nominal_ns, int slices, int span, std::integer_sequence<int, kPairs...>)
{
    return {nominal_ns,
            slices,
            span,
            time_bare<kMultiplications>,
            {make_cell<kMultiplications, kPairs>()...}};
}

// Three cycles per multiplication.  There are few long slices, because otherwise a session would
// take minutes.
inline std::vector<Length> make_lengths()
{
    return {make_length<58>(50, 400, 20, PairNumbers()),
            make_length<117>(100, 400, 20, MorePairNumbers()),
            make_length<233>(200, 400, 20, PairNumbers()),
            make_length<583>(500, 400, 10, PairNumbers()),
            make_length<1167>(1e3, 400, 5, PairNumbers()),
            make_length<11670>(1e4, 60, 1, PairNumbers()),
            make_length<116700>(1e5, 10, 1, PairNumbers()),
            make_length<1167000>(1e6, 2, 1, PairNumbers())};
}
} // namespace bench
