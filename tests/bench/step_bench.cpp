// SPDX-License-Identifier: MIT
// Corrected instruction counts of known code with source step: the largest error.
#include <cmath>
#include <utility>

#include <nsprobe/probe.h>

#include "analyse/analyse.hpp"
#include "figure.hpp"
#include "machine.hpp"

namespace
{
constexpr unsigned kRepeats = 3;

#define AROUND(name, code) \
    NET_SLICE_START(name); \
    code;                  \
    NET_SLICE_STOP(name)

// Only probes and the code: 9 slices, nested 0 to 8 deep, each with exactly kInstructions of its
// own.
template <unsigned kInstructions> void run_nested()
{
    static_assert(kInstructions >= 4 && kInstructions % 2 == 0);
#define KNOWN_CODE                                                   \
    __asm__ volatile("mov %0, %%eax\n1:\tdec %%eax\n\tjnz 1b\n\tnop" \
                     :                                               \
                     : "i"((kInstructions - 2) / 2)                  \
                     : "rax", "cc")
    for (unsigned i = 0; i < kRepeats; ++i) {
        AROUND(depth0,
               AROUND(depth1,
                      AROUND(depth2,
                             AROUND(depth3,
                                    AROUND(depth4,
                                           AROUND(depth5,
                                                  AROUND(depth6,
                                                         AROUND(depth7,
                                                                AROUND(depth8, KNOWN_CODE)))))))));
    }
}

struct Case {
    unsigned instructions;
    void (*run)();
};

constexpr Case kCases[] = {{10, run_nested<10>},
                           {100, run_nested<100>},
                           {1000, run_nested<1000>},
                           {10000, run_nested<10000>},
                           {100000, run_nested<100000>}};

// The largest error over all depths, at both ends of the distribution.
double worst_error(const std::string &trace, unsigned truth)
{
    const nsdump::StatsReport report = nsdump::analyse_trace(trace);
    double worst = 0;
    unsigned seen = 0;
    for (const nsdump::SliceReport &slice : report.slices)
        for (const nsdump::FieldReport &field : slice.values)
            if (field.field == "instructions" && field.net) {
                ++seen;
                worst = std::max(
                    {worst, std::fabs(field.net->min - truth), std::fabs(field.net->max - truth)});
            }
    if (seen != 9) {
        std::fprintf(stderr, "%u of 9 slices have counts in %s\n", seen, trace.c_str());
        std::exit(1);
    }
    return worst;
}
} // namespace

int main()
{
    nlohmann::json raw;
    double worst = 0;
    for (const char *clock : {"fast", "ordered"})
        for (const Case &known : kCases) {
            const bench::TmpfsFile file("netslice-step-bench.nsl");
            bench::open_session("output=" + file.path() +
                                " counters=instructions source=step clock=" + clock);
            known.run();
            nsp_session_close(nullptr);
            const double error = worst_error(file.path(), known.instructions);
            raw[std::string(clock) + "_" + std::to_string(known.instructions)] = error;
            worst = std::max(worst, error);
        }
    bench::print({"step_count_error_instructions", worst, "instructions", raw,
                  "known code of 10 to 100,000 instructions, nested 0 to 8 deep, each slice 3 "
                  "times, both clock modes"},
                 "equal", 0);
    return 0;
}
