// SPDX-License-Identifier: MIT
// Corrected time of a slice of about 100 ns with 0 to 8 probe pairs inside, against the same code without probes.
#include <cmath>
#include <span>

#include <nsprobe/probe.h>

#include "analyse/analyse.hpp"
#include "figure.hpp"
#include "machine.hpp"

namespace
{
constexpr int kRounds = 2000;
constexpr int kBatches = 2; // of a session
constexpr int kSessions = 150; // short: what a probe costs wanders with the core's neighbours, and each calibrates at its two ends

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

std::uint64_t time_rounds(int rounds)
{
    std::uint64_t x = 3;
    const std::uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < rounds; ++i)
        work<0>(x);
    return bench::fenced_ticks() - begin;
}

// Ticks of one round without probes: stretches of n and 2n rounds, short enough that few meet an interrupt; the
// slices' own trim of a twentieth at either end leaves those out, as it does with the slices.
void time_bare(std::vector<double> &ticks)
{
    constexpr int kStretch = 20;
    for (int i = 0; i < kRounds / (3 * kStretch); ++i) {
        const std::uint64_t once = time_rounds(kStretch), twice = time_rounds(2 * kStretch);
        ticks.push_back((static_cast<double>(twice) - static_cast<double>(once)) / kStretch);
    }
}

double trimmed_mean(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const std::size_t cut = static_cast<std::size_t>(nsdump::kTrimmedShare * static_cast<double>(values.size()));
    double sum = 0;
    for (std::size_t i = cut; i < values.size() - cut; ++i)
        sum += values[i];
    return sum / static_cast<double>(values.size() - 2 * cut);
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

struct CaseResult {
    std::vector<double> raw_ticks, net_ticks, error_percent;
};

// One session: bare batches and sliced ones in turn.  Returns the trimmed mean of the bare rounds.
double run_session(const std::string &path, std::span<const Case> cases)
{
    std::vector<double> bare;
    bench::open_session("output=" + path + " ring=4M clock=ordered");
    for (int batch = 0; batch < kBatches; ++batch) {
        time_bare(bare);
        for (const Case &one : cases) {
            one.run(one.slice);
            std::this_thread::sleep_for(std::chrono::microseconds(700));
        }
    }
    nsp_session_close(nullptr);
    return trimmed_mean(bare);
}

void take(const nsdump::StatsReport &report, std::span<const Case> cases, double truth, std::vector<CaseResult> &results)
{
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const nsdump::FieldReport *ticks = ticks_of(report, cases[i].name);
        if (!ticks) {
            std::fprintf(stderr, "no slice %s in the trace\n", cases[i].name.c_str());
            std::exit(1);
        }
        results[i].raw_ticks.push_back(ticks->raw.trimmed_mean);
        results[i].net_ticks.push_back(ticks->net->trimmed_mean);
        results[i].error_percent.push_back((ticks->net->trimmed_mean - truth) / truth * 100);
    }
}
} // namespace

int main()
{
    bench::pin_to_last_cpu(); // before the sessions open: they calibrate this CPU alone
    const Case cases[] = {make_case<0>(), make_case<1>(), make_case<2>(), make_case<3>(), make_case<4>(),
                          make_case<5>(), make_case<6>(), make_case<7>(), make_case<8>()};
    std::vector<CaseResult> results(std::size(cases));
    std::vector<double> truths;
    double hz = 0;
    for (int session = 0; session < kSessions; ++session) {
        const bench::TmpfsFile file("netslice-time-bench.nsl");
        truths.push_back(run_session(file.path(), cases));
        const nsdump::StatsReport report = nsdump::analyse_trace(file.path());
        hz = report.clock.hz;
        take(report, cases, truths.back(), results);
    }

    nlohmann::json raw = {{"uninstrumented_ticks", bench::median(truths)}, {"clock_hz", hz}};
    double worst = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const double error = bench::median(results[i].error_percent);
        raw[cases[i].name] = {{"raw_ticks", bench::median(results[i].raw_ticks)},
                              {"net_ticks", bench::median(results[i].net_ticks)},
                              {"error_percent", error},
                              {"error_percent_p10", bench::quantile(results[i].error_percent, 0.1)},
                              {"error_percent_p90", bench::quantile(results[i].error_percent, 0.9)}};
        worst = std::max(worst, std::fabs(error));
    }
    bench::print({"time_error_100ns_percent", worst, "%", raw,
                  "clock mode ordered; medians over 150 sessions of the trimmed mean of 4,000 slices for each number of pairs"},
                 "at most", 3);
    return 0;
}
