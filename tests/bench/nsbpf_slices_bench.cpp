// SPDX-License-Identifier: MIT
// Slices in a BPF program: what nsdump makes of their records, with random thinning, against the
// same work without probes, by test runs.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <nslice/bpf_site.h>
#include <nsprobe/bpf.h>
#include <sched.h>
#include <unistd.h>

#include "analyse/analyse.hpp"
#include "slices.skel.h"
#include "time_verdict.hpp"

namespace
{
constexpr double kLengthsNs[] = {10, 30, 100, 300, 1000, 3000, 10000};
constexpr uint32_t kPairs[] = {0, 1, 2, 4, 8};
constexpr uint32_t kRingBytes = 1 << 18;
constexpr int kTurns = 240;      // of a cell in a session; in a quarter, no pair is recorded
constexpr double kRunNs = 100e3; // about, of the slices in a run
constexpr bench::Bars kBars = {{0.03, 2}, 35, {0.04, 4}, 34};

constexpr int kSkipped = 77;

[[noreturn]] void end(int code, const std::string &reason)
{
    std::fprintf(stderr, "%s\n", reason.c_str());
    std::exit(code);
}

[[noreturn]] void fail(const std::string &reason)
{
    end(1, reason);
}

// Only what this machine lacks is a reason to skip; whatever else is refused is a failure.
void skip_without_bpf()
{
    if (geteuid() != 0)
        end(kSkipped, "requires root");
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
        end(kSkipped, "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
}

// Loaded with constants of one cell, whose name ends the names of its slices.
class Slices
{
public:
    Slices(uint32_t pairs, uint32_t steps, uint32_t repeats, uint32_t rounds,
           const std::string &cell = "")
        : rounds_(rounds), programs_(nsbpf_slices__open())
    {
        programs_->rodata->nsbpf_rounds = rounds;
        programs_->rodata->nsbpf_pairs = pairs;
        programs_->rodata->nsbpf_other_steps = steps / (pairs + 1);
        programs_->rodata->nsbpf_first_steps = steps - pairs * (steps / (pairs + 1));
        programs_->rodata->nsbpf_has_probes = !cell.empty();
        programs_->rodata->nsbpf_repeats = repeats;
        int error = nsp_bpf_prepare(programs_->obj, kRingBytes);
        name_sites(cell);
        if (error == 0)
            error = nsbpf_slices__load(programs_);
        if (error != 0)
            fail(fmt::format("a program with {} pairs cannot be loaded: {}", pairs,
                             std::strerror(-error)));
    }
    ~Slices() { nsbpf_slices__destroy(programs_); }
    Slices(const Slices &) = delete;
    Slices &operator=(const Slices &) = delete;

    // Of one round, in ns.  Not repeated by the kernel, which takes some 10 ms to prepare that.
    double run()
    {
        char packet[64] = {};
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet, .data_size_in = sizeof packet,
                    .repeat = 1);
        const int error =
            bpf_prog_test_run_opts(bpf_program__fd(programs_->progs.slices), &options);
        if (error != 0)
            fail(fmt::format("a test run of a program failed: {}", std::strerror(-error)));
        return double(options.duration) / rounds_;
    }
    void wait_for_recorder()
    {
        constexpr unsigned kMostMs = 10000;
        if (nsp_bpf_wait(programs_->obj, kMostMs) != 0)
            fail("nsdump does not record a program");
    }

private:
    void name_sites(const std::string &cell)
    {
        size_t bytes = 0;
        auto *const sites = static_cast<nslice_bpf_site *>(
            const_cast<void *>(bpf_map__initial_value(programs_->maps.data_nslice, &bytes)));
        for (size_t i = 0; i < bytes / sizeof *sites; ++i) {
            const std::string name = std::string(sites[i].name) + "_" + cell;
            if (sites[i].kind != 0)
                name.copy(sites[i].name, sizeof sites[i].name - 1);
        }
    }

    uint32_t rounds_;
    nsbpf_slices *programs_;
};

std::string cell_name(double length_ns, uint32_t pairs)
{
    return fmt::format("{:.0f}_{}", length_ns, pairs);
}

// The work of a slice is a chain: repeated more often in a round, the difference is its time alone.
struct Cell {
    double nominal_ns;
    uint32_t pairs, few, many;
    std::unique_ptr<Slices> with_probes, bare_few, bare_many;

    Cell(double length_ns, uint32_t pairs_inside, double step_ns)
        : nominal_ns(length_ns), pairs(pairs_inside), few(length_ns < 200 ? 16 : 1), many(2 * few)
    {
        const auto steps = uint32_t(std::lround(length_ns / step_ns));
        const auto rounds =
            uint32_t(std::clamp(kRunNs / (length_ns + 100 * (pairs + 1)), 20.0, 400.0));
        with_probes = std::make_unique<Slices>(pairs, steps, 1, rounds, name());
        bare_few = std::make_unique<Slices>(pairs, steps, few, rounds);
        bare_many = std::make_unique<Slices>(pairs, steps, many, rounds);
    }
    double bare_ns() const { return (bare_many->run() - bare_few->run()) / (many - few); }
    std::string name() const { return cell_name(nominal_ns, pairs); }
};

double step_ns()
{
    constexpr uint32_t kSteps = 1000, kRounds = 100;
    Slices few(0, kSteps, 1, kRounds), many(0, kSteps, 2, kRounds);
    std::vector<double> steps;
    for (int i = 0; i < 100; ++i)
        steps.push_back((many.run() - few.run()) / kSteps);
    return bench::median(steps);
}

std::vector<Cell> all_cells()
{
    const double step = step_ns();
    std::vector<Cell> cells;
    for (const double length_ns : kLengthsNs)
        for (const uint32_t pairs : kPairs)
            cells.emplace_back(length_ns, pairs, step);
    return cells;
}

// nsdump runs on any CPU; a session on one.
void move_to_cpu(size_t number)
{
    static const auto allowed = [] {
        cpu_set_t all;
        sched_getaffinity(0, sizeof all, &all);
        std::vector<int> list;
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &all))
                list.push_back(cpu);
        return list;
    }();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(allowed[number % allowed.size()], &one);
    sched_setaffinity(0, sizeof one, &one);
}

// The program that nsdump records: runs all cells in turn, and prints what they take without
// probes: by cell, the median and the half width of its interval (about: of a median, from the
// quartiles).
int run_cells(size_t number)
{
    std::vector<Cell> cells = all_cells();
    for (Cell &cell : cells)
        cell.with_probes->wait_for_recorder();
    move_to_cpu(number);
    std::vector<std::vector<double>> bare_ns(cells.size());
    for (int turn = 0; turn < kTurns; ++turn)
        for (size_t i = 0; i < cells.size(); ++i) {
            Cell &cell = cells[(i + number) % cells.size()];
            std::vector<double> &bare = bare_ns[(i + number) % cells.size()];
            if (turn % 2 == 1)
                bare.push_back(cell.bare_ns());
            cell.with_probes->run();
            if (turn % 2 == 0)
                bare.push_back(cell.bare_ns());
        }
    for (const std::vector<double> &bare : bare_ns) {
        const double spread = bench::quantile(bare, 0.75) - bench::quantile(bare, 0.25);
        fmt::print("{} {}\n", bench::median(bare),
                   1.96 * 1.25 * spread / 1.35 / std::sqrt(double(kTurns)));
    }
    return 0;
}

struct Bare {
    double ns, ci95_ns;
};

std::vector<Bare> read_bare(const std::string &path)
{
    std::ifstream file(path);
    std::vector<Bare> all;
    for (Bare one = {}; file >> one.ns >> one.ci95_ns;)
        all.push_back(one);
    if (all.size() != std::size(kLengthsNs) * std::size(kPairs))
        fail(fmt::format("{}: {} cells", path, all.size()));
    return all;
}

const nsdump::FieldReport &ticks_of(const nsdump::StatsReport &report, const std::string &cell)
{
    for (const nsdump::SliceReport &slice : report.slices)
        if (slice.name == nsdump::kKernelPrefix + ("slice_" + cell) && !slice.values.empty() &&
            slice.values[0].net)
            return slice.values[0];
    fail("no net value for " + cell);
}

bench::SessionReadings readings_of(const nsdump::StatsReport &report, const std::vector<Bare> &bare)
{
    bench::SessionReadings out;
    out.clock_hz = report.clock.hz;
    out.lost = report.losses.lost_sum();
    out.readings.resize(std::size(kLengthsNs));
    const double ticks_per_ns = out.clock_hz / 1e9;
    for (size_t i = 0; i < bare.size(); ++i) {
        const double length_ns = kLengthsNs[i / std::size(kPairs)];
        const uint32_t pairs = kPairs[i % std::size(kPairs)];
        const nsdump::FieldReport &ticks = ticks_of(report, cell_name(length_ns, pairs));
        out.readings[i / std::size(kPairs)].push_back(
            {bare[i].ns * ticks_per_ns, bare[i].ci95_ns * ticks_per_ns, ticks.raw.trimmed_mean,
             ticks.net->trimmed_mean, ticks.net->trimmed_ci95.value_or(0)});
    }
    return out;
}

bench::SessionReadings run_session(size_t number)
{
    const std::string base = fmt::format("/tmp/nsbpf_slices_bench.{}", getpid());
    const std::string trace = base + ".nsl", bare = base + ".bare";
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const std::string nsdump = std::filesystem::path(self).parent_path() / "../bin/nsdump";
    const std::string command =
        fmt::format("'{}' record -q -k programs --kernel-recorder bpf --thin auto -w '{}' -- '{}' "
                    "cells {} >'{}'",
                    nsdump, trace, self, number, bare);
    if (std::system(command.c_str()) != 0)
        fail("failed: " + command);
    bench::SessionReadings readings = readings_of(nsdump::analyse_trace(trace), read_bare(bare));
    std::filesystem::remove(trace);
    std::filesystem::remove(bare);
    return readings;
}

std::vector<bench::Length> lengths()
{
    std::vector<bench::Length> out;
    for (const double length_ns : kLengthsNs) {
        out.push_back({length_ns, 0, {}});
        for (const uint32_t pairs : kPairs) {
            bench::Cell cell = {};
            cell.pairs = int(pairs);
            out.back().cells.push_back(cell);
        }
    }
    return out;
}
} // namespace

int main(int argc, char **argv)
{
    skip_without_bpf();
    libbpf_set_print([](libbpf_print_level, const char *, va_list) { return 0; });
    if (argc > 2 && std::string(argv[1]) == "cells")
        return run_cells(size_t(std::atoi(argv[2])));
    const size_t count = argc > 1 ? size_t(std::atoi(argv[1])) : 9;
    std::vector<bench::SessionReadings> sessions;
    for (size_t i = 0; i < count; ++i)
        sessions.push_back(run_session(i));
    bench::print_figures("nsbpf_slices", kBars, bench::judge(lengths(), sessions), sessions);
    return 0;
}
