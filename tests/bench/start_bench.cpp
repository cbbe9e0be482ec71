// SPDX-License-Identifier: MIT
// How long a program waits for its session: from before opening it, including calibration, to after
// the first probe.
#include <cstring>

#include <nsprobe/probe.h>
#include <sys/wait.h>

#include "figure.hpp"
#include "machine.hpp"

namespace
{
constexpr int kStarts = 25;
constexpr double kBarMs = 100;

struct Start {
    const char *name; // part of the figure's name
    const char *options;
};

constexpr Start kStartsOf[] = {
    {"", "clock=fast"},
    {"_ordered", "clock=ordered"},
    {"_step", "counters=instructions source=step"},
    {"_rdpmc", "counters=instructions,cycles source=rdpmc"},
    {"_perf_read", "counters=task-clock source=perf-read"},
    {"_papi", "counters=PAPI_TOT_INS source=papi"},
};

// In the new process: prints its time in milliseconds, or why there is none.
int start_once(const char *options)
{
    const bench::TmpfsFile file("netslice-start-bench.nsl");
    const auto begin = std::chrono::steady_clock::now();
    if (nsp_session_configure(("output=" + file.path() + " " + options).c_str()) != 0) {
        std::printf("%s\n", nsp_last_error());
        return 77;
    }
    NET_SLICE_START(first);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - begin;
    NET_SLICE_STOP(first);
    nsp_session_counts counts;
    if (nsp_session_close(&counts) != 0 || counts.issued != 2) {
        std::printf("the first probe wrote no record\n");
        return 1;
    }
    std::printf("%f\n", elapsed.count());
    return 0;
}

struct Reported {
    int status;
    std::string line;
};

Reported start_process(const char *options)
{
    static const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    std::FILE *child = popen(("'" + self + "' '" + options + "'").c_str(), "r");
    char line[1024] = "";
    if (!child || !std::fgets(line, sizeof(line), child))
        std::snprintf(line, sizeof(line), "the process printed nothing");
    line[std::strcspn(line, "\n")] = 0;
    return {child ? WEXITSTATUS(pclose(child)) : 1, line};
}

void measure(const Start &start)
{
    const std::string figure = std::string("session_start") + start.name;
    std::vector<double> ms;
    for (int i = 0; i < kStarts; ++i) {
        const Reported reported = start_process(start.options);
        if (reported.status == 77) {
            bench::print_skipped(figure + "_ms", reported.line);
            bench::print_skipped(figure + "_worst_ms", reported.line);
            return;
        }
        if (reported.status != 0) {
            std::fprintf(stderr, "%s: %s\n", start.options, reported.line.c_str());
            std::exit(1);
        }
        ms.push_back(std::stod(reported.line));
    }
    const nlohmann::json raw = {{"options", start.options}, {"starts_ms", ms}};
    const std::string how = " of " + std::to_string(kStarts) +
                            " new processes, until after the first probe; " + start.options;
    bench::print({figure + "_ms", bench::median(ms), "ms", raw, "median" + how, {}}, "below",
                 kBarMs);
    bench::print({figure + "_worst_ms", bench::quantile(ms, 1), "ms", nullptr, "slowest" + how, {}},
                 "below", kBarMs);
}
} // namespace

int main(int argc, char **argv)
{
    if (argc > 1)
        return start_once(argv[1]);
    for (const Start &start : kStartsOf)
        measure(start);
    return 0;
}
