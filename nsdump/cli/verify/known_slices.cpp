// SPDX-License-Identifier: MIT
// verify: slices around known code.
#include "cli/verify/known_slices.hpp"

#include <array>

#include "cli/verify/known_code.hpp"

namespace nsdump::verify
{
namespace
{
// Each is a separate function whose slices contain only probes and known code, so that no compiler
// moves other work there.
#define DEFINE_KNOWN(n)                                                          \
    __attribute__((noinline)) void run_##n()                                     \
    {                                                                            \
        static_assert((n) >= KNOWN_LEAST && (n) % 2 == 0);                       \
        AROUND(outer_##n, AROUND(middle_##n, AROUND(known_##n, KNOWN_CODE(n)))); \
    }
DEFINE_KNOWN(10)
DEFINE_KNOWN(100)
DEFINE_KNOWN(1000)
DEFINE_KNOWN(10000)
DEFINE_KNOWN(100000)
DEFINE_KNOWN(1000000)

__attribute__((noinline)) void run_pairs()
{
    AROUND(pairs, KNOWN_CODE(40); TEN_TIMES(NET_SLICE_START(empty); NET_SLICE_STOP(empty));
           KNOWN_CODE(60));
}

constexpr std::array kRuns = {run_10, run_100, run_1000, run_10000, run_100000, run_1000000};
} // namespace

Truth known_truth(int longest)
{
    Truth truth = {{"pairs", 100}, {"empty", 0}};
    for (int n = kShortest; n <= longest; n *= 10)
        for (const char *depth : {"outer_", "middle_", "known_"})
            truth[depth + std::to_string(n)] = n;
    return truth;
}

void run_known_slices(int longest)
{
    run_pairs();
    int n = kShortest;
    for (const auto run : kRuns) {
        if (n > longest)
            break;
        run();
        n *= 10;
    }
}
} // namespace nsdump::verify
