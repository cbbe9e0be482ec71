// SPDX-License-Identifier: MIT
// Corrected time of a slice of about 100 ns with 0 to 8 probe pairs inside, against the same code without probes.
#include <cmath>

#include <nsprobe/probe.h>

#include "analyse/analyse.hpp"
#include "figure.hpp"
#include "machine.hpp"

namespace
{
constexpr int kRounds = 2000;
constexpr int kBatches = 151;

// A chain of dependent multiplications: nine parts with a seam for a pair between each two.
#define MUL4 "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
inline __attribute__((always_inline)) void part(std::uint64_t &x)
{
    __asm__ volatile(MUL4 MUL4 MUL4 MUL4 : "+r"(x));
}

template <int kPairs, int kSeam> inline __attribute__((always_inline)) void seam(std::uint64_t &x)
{
    if constexpr (kSeam < kPairs) {
        NET_SLICE_START(inside);
        NET_SLICE_STOP(inside);
    }
    part(x);
}

template <int kPairs> inline __attribute__((always_inline)) void work(std::uint64_t &x)
{
    part(x);
    seam<kPairs, 0>(x);
    seam<kPairs, 1>(x);
    seam<kPairs, 2>(x);
    seam<kPairs, 3>(x);
    seam<kPairs, 4>(x);
    seam<kPairs, 5>(x);
    seam<kPairs, 6>(x);
    seam<kPairs, 7>(x);
}

double time_bare()
{
    std::uint64_t x = 3;
    const std::uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kRounds; ++i)
        work<0>(x);
    return static_cast<double>(bench::fenced_ticks() - begin) / kRounds;
}

template <int kPairs> void run_sliced(nsp_slice *slice)
{
    std::uint64_t x = 3;
    for (int i = 0; i < kRounds; ++i) {
        NET_SLICE_START_AT(slice);
        work<kPairs>(x);
        NET_SLICE_STOP_AT(slice);
    }
}

struct Case {
    int pairs;
    void (*run)(nsp_slice *);
    nsp_slice *slice;
    std::string name;
};

template <int kPairs> Case make_case()
{
    const std::string name = "pairs" + std::to_string(kPairs);
    return {kPairs, run_sliced<kPairs>, nsp_slice_create(name.c_str(), __FILE__, __LINE__), name};
}

const nsdump::FieldReport *ticks_of(const nsdump::StatsReport &report, const std::string &name)
{
    for (const nsdump::SliceReport &slice : report.slices)
        if (slice.name == name)
            for (const nsdump::FieldReport &field : slice.values)
                if (field.field == "ticks" && field.net)
                    return &field;
    return nullptr;
}
} // namespace

int main()
{
    const Case cases[] = {make_case<0>(), make_case<1>(), make_case<2>(), make_case<3>(), make_case<4>(),
                          make_case<5>(), make_case<6>(), make_case<7>(), make_case<8>()};
    const bench::TmpfsFile file("netslice-time-bench.nsl");
    std::vector<double> bare;
    bench::open_session("output=" + file.path() + " ring=16M clock=ordered");
    bench::pin_to_last_cpu();
    for (int batch = 0; batch < kBatches; ++batch) {
        bare.push_back(time_bare());
        for (const Case &one : cases) {
            one.run(one.slice);
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
    }
    nsp_session_close(nullptr);

    const nsdump::StatsReport report = nsdump::analyse_trace(file.path());
    const double truth = bench::median(bare);
    nlohmann::json raw = {{"uninstrumented_ticks", truth}, {"clock_hz", report.clock.hz}};
    double worst = 0;
    for (const Case &one : cases) {
        const nsdump::FieldReport *ticks = ticks_of(report, one.name);
        if (!ticks) {
            std::fprintf(stderr, "no slice %s in the trace\n", one.name.c_str());
            return 1;
        }
        const double error = (ticks->net->trimmed_mean - truth) / truth * 100;
        raw[one.name] = {{"raw_ticks", ticks->raw.trimmed_mean},
                         {"net_ticks", ticks->net->trimmed_mean},
                         {"error_percent", error}};
        worst = std::max(worst, std::fabs(error));
    }
    bench::print({"time_error_100ns_percent", worst, "%", raw,
                  "clock mode ordered; trimmed mean of 300,000 slices for each number of pairs; median of bare batches"},
                 "at most", 3);
    return 0;
}
