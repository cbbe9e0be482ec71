// SPDX-License-Identifier: MIT
// Slices in a BPF program: what nsdump makes of their records against the same work without probes,
// by test runs.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <nslice/bpf_site.h>
#include <nslice/file.h>
#include <nslice/ring.h>
#include <nsprobe/bpf.h>
#include <sched.h>
#include <unistd.h>

#include "analyse/analyse.hpp"
#include "nsbpf/recorder.hpp"
#include "nsdump_support.hpp"
#include "slices.skel.h"
#include "src/calibration.hpp"
#include "src/owner.hpp"
#include "src/point_table.hpp"
#include "support/trace_builder.hpp"
#include "time_verdict.hpp"

namespace
{
using test_support::TraceBuilder;

constexpr double kLengthsNs[] = {10, 30, 100, 300, 1000, 3000, 10000};
constexpr uint32_t kPairs[] = {0, 1, 2, 4, 8};
constexpr uint32_t kRingBytes = 1 << 18, kStride = NSLICE_RING_META_BYTES + kRingBytes;
constexpr uint32_t kFirstId = 0xf100;
constexpr uint32_t kRounds = 50; // of a run
constexpr int kTurns = 20;       // of a cell in a session
constexpr double kRunNs = 200e3; // about, of the work in a run
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

// Loaded with constants of one cell.
class Slices
{
public:
    Slices(uint32_t pairs, uint32_t steps, bool has_probes, uint32_t repeats)
        : cpus_(uint32_t(libbpf_num_possible_cpus())), programs_(nsbpf_slices__open())
    {
        programs_->rodata->nsbpf_pairs = pairs;
        programs_->rodata->nsbpf_other_steps = steps / (pairs + 1);
        programs_->rodata->nsbpf_first_steps = steps - pairs * (steps / (pairs + 1));
        programs_->rodata->nsbpf_has_probes = has_probes;
        programs_->rodata->nsbpf_repeats = repeats;
        int error = nsp_bpf_prepare(programs_->obj, kRingBytes);
        if (error == 0)
            error = nsbpf_slices__load(programs_);
        if (error != 0)
            fail(fmt::format("a program with {} pairs cannot be loaded: {}", pairs,
                             std::strerror(-error)));
        for (uint32_t cpu = 0; has_probes && cpu < cpus_; ++cpu)
            rings_.push_back(std::make_unique<nsbpf::MappedRing>(
                bpf_map__fd(programs_->maps.nslice_rings), cpu, kRingBytes, cpu * kStride));
        if (has_probes)
            turn_on();
    }
    ~Slices()
    {
        rings_.clear();
        nsbpf_slices__destroy(programs_);
    }
    Slices(const Slices &) = delete;
    Slices &operator=(const Slices &) = delete;

    // Of one round, in ns.
    double run(uint32_t repeats)
    {
        char packet[64] = {};
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet, .data_size_in = sizeof packet,
                    .repeat = int(repeats));
        const int error =
            bpf_prog_test_run_opts(bpf_program__fd(programs_->progs.slices), &options);
        if (error != 0)
            fail(fmt::format("a test run of a program failed: {}", std::strerror(-error)));
        return double(options.duration) / kRounds;
    }
    nsbpf::Rings &rings() { return rings_; }
    const nslice_bpf_site &site(uint64_t bits) const
    {
        return sites_[(bits >> NSLICE_HEAD_SLICE_SHIFT & 0xffff) - kFirstId];
    }

private:
    // As a recorder does; without an owner, another recorder on this machine would take the
    // program.
    void turn_on()
    {
        rings_[0]->meta()->owner = nsbpf::own_owner();
        size_t bytes = 0;
        auto *const sites = static_cast<nslice_bpf_site *>(
            const_cast<void *>(bpf_map__initial_value(programs_->maps.data_nslice, &bytes)));
        for (size_t i = 0; i < bytes / sizeof *sites; ++i)
            if (sites[i].kind != 0)
                sites[i].bits = nsbpf::site_bits(uint16_t(kFirstId + i), sites[i].kind);
        sites_.assign(sites, sites + bytes / sizeof *sites);
    }

    uint32_t cpus_;
    nsbpf_slices *programs_;
    std::vector<nslice_bpf_site> sites_;
    nsbpf::Rings rings_;
};

// The work of a slice is a chain: repeated more often in a round, the difference is its time alone.
struct Cell {
    double nominal_ns;
    uint32_t pairs, few, many;
    std::unique_ptr<Slices> with_probes, bare_few, bare_many;
    uint32_t runs; // of a turn

    Cell(double length_ns, uint32_t pairs_inside, double step_ns)
        : nominal_ns(length_ns), pairs(pairs_inside), few(length_ns < 200 ? 16 : 1), many(2 * few),
          runs(uint32_t(std::clamp(kRunNs / (kRounds * (length_ns + 100 * pairs)), 1.0, 8.0)))
    {
        const auto steps = uint32_t(std::lround(length_ns / step_ns));
        with_probes = std::make_unique<Slices>(pairs, steps, true, 1);
        bare_few = std::make_unique<Slices>(pairs, steps, false, few);
        bare_many = std::make_unique<Slices>(pairs, steps, false, many);
    }
    double bare_ns() const { return (bare_many->run(runs) - bare_few->run(runs)) / (many - few); }
    std::string name() const { return fmt::format("{:.0f}_{}", nominal_ns, pairs); }
};

double step_ns()
{
    constexpr uint32_t kSteps = 1000;
    Slices few(0, kSteps, false, 1), many(0, kSteps, false, 2);
    std::vector<double> steps;
    for (int i = 0; i < 100; ++i)
        steps.push_back((many.run(10) - few.run(10)) / kSteps);
    return bench::median(steps);
}

double clock_step_ticks()
{
    uint64_t least = UINT64_MAX, last = nsbpf::read_ticks();
    for (int i = 0; i < 10000; ++i) {
        const uint64_t now = nsbpf::read_ticks();
        if (now != last)
            least = std::min(least, now - last);
        last = now;
    }
    return double(least);
}

// One session: a trace with its calibrations and the slices of all cells in turn.
class Session
{
public:
    explicit Session(std::vector<Cell> &cells) : cells_(cells), programs_(request())
    {
        for (uint32_t cpu = 0; cpu < programs_.cpus(); ++cpu)
            rings_.push_back(std::make_unique<nsbpf::MappedRing>(
                programs_.rings(), cpu, programs_.ring_bytes(), cpu * programs_.stride_bytes()));
        for (int i = 0; i < 64; ++i) {
            line_.add(nsbpf::read_clocks());
            const timespec pause = {0, 250'000};
            nanosleep(&pause, nullptr);
        }
        hz_ = line_.ticks_per_ns() * 1e9;
        trace_.info(test_support::plain_info(hz_));
        trace_.calibration(NSLICE_CALIBRATION_START, 0, 0, {}, clock_step_ticks());
    }

    bench::SessionReadings run(size_t number)
    {
        calibrate(NSLICE_CALIBRATION_START);
        for (int turn = 0; turn < kTurns; ++turn)
            for (size_t i = 0; i < cells_.size(); ++i)
                take((i + number) % cells_.size(), turn % 2 == 1);
        calibrate(NSLICE_CALIBRATION_END);
        trace_.footer(NSLICE_END_CLOSED, uint64_t(hz_), 1'000'000'000);
        nsdump::TraceFile file(test_support::source_of(trace_.bytes()));
        return read(nsdump::analyse_trace(file));
    }

private:
    static nsbpf::Request request()
    {
        nsbpf::Request request;
        request.groups = nsbpf::kProgramsGroup;
        return request;
    }
    void calibrate(unsigned phase)
    {
        const std::string payload = nsbpf::calibrate(programs_, rings_, phase, line_);
        constexpr size_t kHead = sizeof(nslice_file_kernel_calibration);
        std::vector<nslice_kernel_calibration_entry> entries(
            (payload.size() - kHead) / sizeof(nslice_kernel_calibration_entry));
        std::memcpy(entries.data(), payload.data() + kHead, payload.size() - kHead);
        trace_.kernel_calibration(entries, phase);
    }
    void take(size_t index, bool is_bare_first)
    {
        Cell &cell = cells_[index];
        if (is_bare_first)
            bare_ns_[index].push_back(cell.bare_ns());
        for (const auto &ring : cell.with_probes->rings())
            ring->begin();
        cell.with_probes->run(cell.runs);
        line_.add(nsbpf::read_clocks());
        for (uint32_t cpu = 0; cpu < cell.with_probes->rings().size(); ++cpu)
            copy(index, cpu, *cell.with_probes->rings()[cpu]);
        if (!is_bare_first)
            bare_ns_[index].push_back(cell.bare_ns());
    }
    // The first slice of a run is left out: its code is not in the caches.
    void copy(size_t index, uint32_t cpu, nsbpf::MappedRing &ring)
    {
        const std::vector<uint64_t> words = ring.take_words();
        lost_ += ring.row().issued - ring.row().drained;
        const size_t of_slice = (2 + 2 * cells_[index].pairs) * NSLICE_HEAD_WORDS;
        for (size_t at = of_slice; at + 1 < words.size(); at += NSLICE_RECORD_WORDS(words[at + 1]))
            trace_.record(TraceBuilder::kernel(cpu), uint32_t(words[at + 1]),
                          NSLICE_RECORD_KIND(words[at + 1]), site(index, words[at + 1]),
                          line_.ticks_at(words[at]));
    }
    uint16_t site(size_t index, uint64_t bits)
    {
        const nslice_bpf_site &of_program = cells_[index].with_probes->site(bits);
        const std::string name = of_program.name + ("_" + cells_[index].name());
        const auto [place, is_new] = sites_.try_emplace({name, of_program.kind});
        if (is_new)
            place->second = trace_.kernel_site(name, of_program.kind, NSLICE_SITE_IN_PROGRAM);
        return place->second;
    }
    bench::SessionReadings read(const nsdump::StatsReport &report)
    {
        bench::SessionReadings out;
        out.clock_hz = hz_;
        out.lost = lost_;
        out.readings.resize(std::size(kLengthsNs));
        for (size_t i = 0; i < cells_.size(); ++i) {
            const auto slice =
                std::ranges::find_if(report.slices, [&](const nsdump::SliceReport &one) {
                    return one.name == nsdump::kKernelPrefix + ("slice_" + cells_[i].name());
                });
            if (slice == report.slices.end() || slice->values.empty() || !slice->values[0].net)
                fail("no net value for " + cells_[i].name());
            const nsdump::Distribution &net = *slice->values[0].net;
            const double ticks_per_ns = hz_ / 1e9;
            out.readings[i / std::size(kPairs)].push_back(
                {bench::median(bare_ns_[i]) * ticks_per_ns, bare_ci95(i) * ticks_per_ns,
                 slice->values[0].raw.trimmed_mean, net.trimmed_mean,
                 net.trimmed_ci95.value_or(0)});
        }
        return out;
    }
    // About: of a median, from the quartiles.
    double bare_ci95(size_t index) const
    {
        const double spread =
            bench::quantile(bare_ns_.at(index), 0.75) - bench::quantile(bare_ns_.at(index), 0.25);
        return 1.96 * 1.25 * spread / 1.35 / std::sqrt(double(kTurns));
    }

    std::vector<Cell> &cells_;
    nsbpf::Programs programs_;
    nsbpf::Rings rings_;
    nsbpf::ClockLine line_;
    double hz_ = 0;
    TraceBuilder trace_;
    std::map<std::pair<std::string, uint32_t>, uint16_t> sites_; // by name and kind
    std::map<size_t, std::vector<double>> bare_ns_;
    uint64_t lost_ = 0;
};

// The recorder runs on any CPU; a session on one.
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
    const size_t count = argc > 1 ? size_t(std::atoi(argv[1])) : 9;
    skip_without_bpf();
    libbpf_set_print([](libbpf_print_level, const char *, va_list) { return 0; });
    const double step = step_ns();
    std::vector<Cell> cells;
    for (const double length_ns : kLengthsNs)
        for (const uint32_t pairs : kPairs)
            cells.emplace_back(length_ns, pairs, step);
    std::vector<bench::SessionReadings> sessions;
    try {
        for (size_t i = 0; i < count; ++i) {
            Session session(cells);
            move_to_cpu(i);
            sessions.push_back(session.run(i));
        }
    } catch (const nsbpf::Refusal &refusal) {
        fail(refusal.what());
    }
    bench::print_figures("nsbpf_slices", kBars, bench::judge(lengths(), sessions), sessions);
    return 0;
}
