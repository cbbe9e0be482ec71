// SPDX-License-Identifier: MIT
// Recorder: a thread that drains the rings of the programs into a pipe.
#include "nsbpf/recorder.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nslice/file.h>
#include <nslice/ring.h>
#include <sys/random.h>

#include "calibration.hpp"
#include "chunk_pipe.hpp"
#include "clock_line.hpp"
#include "cpu_records.hpp"
#include "functions/functions.hpp"
#include "identify.hpp"
#include "mapped_ring.hpp"
#include "point_table.hpp"
#include "probes/program_probes.hpp"
#include "programs.hpp"

namespace nsbpf
{
namespace
{
using std::chrono::microseconds;
constexpr auto kLeastPause = microseconds(500), kMostPause = microseconds(8000);
constexpr int64_t kRingOfMostPause = 1 << 20;
constexpr auto kPairInterval = std::chrono::milliseconds(10);
constexpr int kFirstPairs = 40;
constexpr auto kFirstInterval = std::chrono::microseconds(250);
constexpr auto kTornPause = std::chrono::milliseconds(1);
constexpr int kTornTries = 100; // a preempted writer continues meanwhile
constexpr uint64_t kFullChunk = NSLICE_MAX_PAYLOAD_BYTES / 2;
constexpr double kQuiet = 1.0 / 16; // a ring with less than this part in use
constexpr auto kLookInterval = std::chrono::milliseconds(50);
constexpr int kMostLooks = 50; // one of so many parts of the time

#if defined(__x86_64__)
constexpr const char *kClock = "tsc";
#else
constexpr const char *kClock = "cntvct";
#endif

std::string missed_text(const std::vector<Missed> &missed)
{
    std::string text;
    uint64_t sum = 0;
    for (const Missed &one : missed) {
        sum += one.times;
        text += fmt::format("kernel.recorder.missed.{}={}\n", one.program, one.times);
    }
    return sum > 0 ? fmt::format("kernel.recorder.missed={}\n", sum) + text : "";
}

// While it exists, also in threads that are started meanwhile: the recorder's gets none of the
// program's, nor SIGPIPE if the reader is gone.
class NoSignals
{
public:
    NoSignals()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(const NoSignals &) = delete;
    NoSignals &operator=(const NoSignals &) = delete;

private:
    sigset_t before_;
};

uint64_t random_seed()
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        seed = read_ticks();
    return seed;
}
} // namespace

class Recorder::Session
{
public:
    explicit Session(const Request &request) : request_(request), programs_(request)
    {
        for (uint32_t cpu = 0; cpu < programs_.cpus(); ++cpu)
            rings_.push_back(std::make_unique<MappedRing>(
                programs_.rings(), cpu, programs_.ring_bytes(), cpu * programs_.stride_bytes()));
        for (int i = 0; i < kFirstPairs; ++i) {
            line_.add(read_clocks());
            std::this_thread::sleep_for(kFirstInterval);
        }
        for (uint32_t cpu = 0; cpu < programs_.cpus(); ++cpu)
            cpus_.emplace_back(cpu, [this](const auto &words) { watch(words); }).add(*rings_[cpu]);
        const std::string at_start = calibrate(programs_, rings_, NSLICE_CALIBRATION_START, line_);
        programs_.attach_groups();
        programs_.attach_functions(request_);
        for (const std::string &refused : programs_.refused_functions())
            request_.tell("function not recorded: " + refused);
        programs_.select(request_.slices);
        for (const auto &ring : rings_) // the trace begins here, at one moment of each CPU
            ring->begin();
        if (programs_.groups() & programs_bit())
            begin_probes();
        programs_.set_functions(!request_.functions.empty());
        const NoSignals none; // for the thread
        thread_ = std::thread([this, at_start] { run(at_start); });
    }
    ~Session()
    {
        end();
        pipe_.close_reader(); // so that the thread does not wait for one
        thread_.join();
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    int descriptor() const { return pipe_.reader(); }
    void end() { is_over_ = true; }
    void select(const std::string &rules)
    {
        const std::lock_guard lock(selecting_);
        if (is_over_)
            return;
        programs_.select(rules);
        if (probes_)
            probes_->select(rules);
        rules_ = rules;
        has_new_rules_ = true;
    }

private:
    void run(const std::string &at_start);
    bool write_head(const std::string &at_start);
    CpuRecords::Passed pass();
    void pause(const CpuRecords::Passed &passed);
    microseconds until_epoch_ends(microseconds pause) const;
    void begin_probes();
    void look();
    void follow_probes();
    bool write_sites();
    void write_rules();
    void follow_clocks();
    void follow_thinning();
    void end_epoch(bool is_last);
    void watch(const std::vector<uint64_t> &words);
    void finish();
    void end_records();
    std::string facts_at_end() const;
    std::string totals() const;

    const Request request_;
    Programs programs_;
    Rings rings_;
    std::unique_ptr<ProgramProbes> probes_; // null: not recorded
    std::unique_ptr<Thinner> thinner_;      // null: nothing is off at random
    std::vector<CpuRecords> cpus_;
    std::string sites_;   // to be written
    std::string refused_; // INFO
    std::chrono::steady_clock::time_point next_look_ = {};
    ClockLine line_; // the thread, once it runs
    std::chrono::steady_clock::time_point next_pair_ = {};
    microseconds pause_ = kLeastPause;
    ChunkPipe pipe_;
    std::mutex selecting_; // the next
    std::string rules_ = request_.slices;
    std::atomic<bool> has_new_rules_ = true;
    std::atomic<bool> is_over_ = false;
    std::thread thread_;
};

bool Recorder::Session::write_head(const std::string &at_start)
{
    std::string info = fmt::format(
        "kernel.recorder=bpf\nkernel.recorder.reason={}\nkernel.module=none\nkernel.clock={}\n"
        "kernel.clock.mode=fast\nkernel.groups={}\nkernel.ring.bytes={}\n"
        "kernel.ring.full=discard\n",
        request_.reason, kClock, request_.groups, programs_.ring_bytes());
    if (request_.port)
        info += fmt::format("kernel.filter.port={}\n", request_.port);
    if (!request_.functions.empty())
        info += fmt::format("functions.by=uprobes\nfunctions.by.reason={}\nfunctions.recorded={}\n",
                            request_.functions_reason,
                            request_.functions.size() - programs_.refused_functions().size());
    if (const auto &refused = programs_.refused_functions(); !refused.empty())
        info += fmt::format("functions.refused={}\n", fmt::join(refused, "; "));
    if (request_.pid)
        info += fmt::format("kernel.filter.pid={}\n", programs_.process());
    if (request_.thread)
        info += fmt::format("kernel.filter.thread={}\n", programs_.thread());
    info += fmt::format("kernel.counters.names={}\nkernel.counters.source={}\n",
                        programs_.counters().names(),
                        programs_.counters().count() > 0 ? "helper" : "none");
    info += missing_text(programs_.kernel(), programs_.groups()) + refused_;
    sites_ = site_chunk(programs_.groups()) + function_sites(request_.functions) + sites_;
    return pipe_.write_small(NSLICE_CHUNK_INFO, info) &&
           pipe_.write_small(NSLICE_CHUNK_KERNEL_CALIBRATION, at_start) && write_sites();
}

// In chunks of whole sites.
bool Recorder::Session::write_sites()
{
    std::string chunk;
    bool is_read = true;
    for (size_t at = 0; at < sites_.size();) {
        nslice_file_site site;
        memcpy(&site, &sites_[at], sizeof(site));
        const size_t bytes = (sizeof(site) + site.name_bytes + site.file_bytes + 7) / 8 * 8;
        if (chunk.size() + bytes > NSLICE_MAX_PAYLOAD_BYTES) {
            is_read &= pipe_.write_small(NSLICE_CHUNK_KERNEL_SITES, chunk);
            chunk.clear();
        }
        chunk.append(sites_, at, bytes);
        at += bytes;
    }
    sites_.clear();
    return is_read && (chunk.empty() || pipe_.write_small(NSLICE_CHUNK_KERNEL_SITES, chunk));
}

void Recorder::Session::run(const std::string &at_start)
{
    const Silence silence;
    pthread_setname_np(pthread_self(), "nsp-bpf"); // in a loader, it is not the program's
    bool is_read = write_head(at_start);
    while (is_read && !is_over_) {
        follow_clocks();
        follow_probes();
        follow_thinning();
        pause(pass());
    }
    finish();
    pipe_.close_writer();
}

void Recorder::Session::follow_clocks()
{
    const auto now = std::chrono::steady_clock::now();
    if (now < next_pair_)
        return;
    line_.add(read_clocks());
    programs_.renew_counters();
    next_pair_ = now + kPairInterval;
}

// Other groups go on if this one is not permitted.
void Recorder::Session::begin_probes()
{
    try {
        Whose whose = request_.programs_of;
        if (whose == Whose::kStarted && may_list_programs())
            whose = Whose::kAnybody;
        if (whose == Whose::kStarted)
            request_.tell("without the capability CAP_SYS_ADMIN only BPF programs of the program "
                          "started here are recorded");
        probes_ = std::make_unique<ProgramProbes>(programs_.cpus(), request_.slices, whose,
                                                  request_.tell);
        look();
        if (request_.thin_permille > 0)
            thinner_ = std::make_unique<Thinner>(request_.thin_permille, random_seed(),
                                                 line_.ticks_per_ns(), read_ticks());
    } catch (const Refusal &refusal) {
        if (refusal.number() != EPERM || programs_.groups() == programs_bit())
            throw;
        probes_.reset();
        refused_ = fmt::format("kernel.groups.refused={}\nkernel.groups.refused.reason={}\n",
                               kProgramsGroup, refusal.what() + std::strlen("kernel: "));
        request_.tell(refusal.what());
    }
}

void Recorder::Session::look()
{
    probes_->look(sites_, [this](ProgramRings &added) {
        for (uint32_t cpu = 0; cpu < cpus_.size(); ++cpu)
            cpus_[cpu].add(*added.rings()[cpu]);
    });
    for (ProgramRings *rings : probes_->unloaded()) {
        for (uint32_t cpu = 0; cpu < cpus_.size(); ++cpu)
            cpus_[cpu].remove(*rings->rings()[cpu], line_);
        probes_->drop(rings);
    }
}

void Recorder::Session::follow_probes()
{
    const auto now = std::chrono::steady_clock::now();
    if (!probes_ || now < next_look_)
        return;
    try {
        look();
    } catch (const Refusal &refusal) {
        request_.tell(refusal.what());
    }
    write_sites();
    const auto end = std::chrono::steady_clock::now();
    next_look_ = now + std::max(std::chrono::steady_clock::duration(kLookInterval),
                                kMostLooks * (end - now)); // processes may have many descriptors
}

CpuRecords::Passed Recorder::Session::pass()
{
    CpuRecords::Passed fullest;
    if (has_new_rules_.exchange(false))
        write_rules();
    for (CpuRecords &cpu : cpus_) {
        const CpuRecords::Passed passed = cpu.pass(pipe_, line_);
        fullest.bytes = std::max(fullest.bytes, passed.bytes);
        fullest.most_used = std::max(fullest.most_used, passed.most_used);
    }
    return fullest;
}

// Each time that this thread runs it takes the CPU from a program, which is in the trace.
void Recorder::Session::pause(const CpuRecords::Passed &passed)
{
    uint64_t ring_bytes = programs_.ring_bytes();
    if (const uint64_t least = probes_ ? probes_->least_ring_bytes() : 0; least > 0)
        ring_bytes = std::min(ring_bytes, least);
    const auto most =
        std::clamp(kMostPause * int64_t(ring_bytes) / kRingOfMostPause, kLeastPause, kMostPause);
    pause_ = passed.most_used < kQuiet ? std::min(2 * pause_, most) : kLeastPause;
    if (passed.bytes < kFullChunk)
        std::this_thread::sleep_for(until_epoch_ends(pause_));
}

microseconds Recorder::Session::until_epoch_ends(microseconds pause) const
{
    if (!thinner_)
        return pause;
    const uint64_t now = read_ticks(), due = thinner_->due_ticks();
    const double left_us = due > now ? double(due - now) / line_.ticks_per_ns() / 1e3 : 0;
    return left_us < double(pause.count()) ? microseconds(int64_t(left_us)) : pause;
}

void Recorder::Session::watch(const std::vector<uint64_t> &words)
{
    if (thinner_)
        thinner_->watch(words, SiteNumbers::kFirst, probes_->numbers().thin_names());
}

void Recorder::Session::end_epoch(bool is_last)
{
    const uint64_t now = read_ticks();
    thinner_->end(now, probes_->generation());
    if (const std::string rows = thinner_->take_rows(now, is_last); !rows.empty())
        pipe_.write_small(NSLICE_CHUNK_EPOCHS, rows);
}

void Recorder::Session::follow_thinning()
{
    if (!thinner_ || read_ticks() < thinner_->due_ticks())
        return;
    end_epoch(false);
    Thinned thinned = probes_->thin(thinner_->draw());
    thinner_->begin(read_ticks(), std::move(thinned));
}

void Recorder::Session::write_rules()
{
    const std::lock_guard lock(selecting_);
    pipe_.write_small(NSLICE_CHUNK_INFO, "kernel.slices=" + rules_ + "\n");
}

std::string Recorder::Session::totals() const
{
    std::string rows;
    nslice_file_kernel_totals head = {};
    head.unnamed_sites = probes_ ? probes_->unnamed() : 0;
    for (const CpuRecords &cpu : cpus_) {
        const nslice_file_footer_cpu row = cpu.row();
        if (row.issued == 0)
            continue;
        ++head.cpus;
        rows.append(reinterpret_cast<const char *>(&row), sizeof(row));
    }
    return std::string(reinterpret_cast<const char *>(&head), sizeof(head)) + rows;
}

// The trace ends here, at one moment of each CPU.
void Recorder::Session::end_records()
{
    for (CpuRecords &cpu : cpus_)
        cpu.end();
    {
        if (thinner_)
            end_epoch(true);
        const std::lock_guard lock(selecting_);
        is_over_ = true; // also if the reader has ended: later rules switch nothing on
        programs_.silence();
        if (probes_)
            probes_->silence();
    }
    programs_.detach_groups();
    const auto pending = [&] {
        return std::ranges::any_of(cpus_, [](const CpuRecords &cpu) { return cpu.pending() > 0; });
    };
    line_.add(read_clocks());
    pass();
    for (int tries = 0; tries < kTornTries && pending(); ++tries) {
        std::this_thread::sleep_for(kTornPause);
        pass();
    }
    for (CpuRecords &cpu : cpus_) {
        cpu.settle();
        cpu.flush(pipe_, line_);
    }
}

std::string Recorder::Session::facts_at_end() const
{
    std::string info =
        fmt::format("kernel.clock.residual_ns={:.1f}\nkernel.clock.slope_error={:.3g}\n",
                    line_.residual_ns(), line_.slope_error());
    info += missed_text(programs_.missed());
    uint64_t late = 0, foreign = 0;
    for (const CpuRecords &cpu : cpus_) {
        late += cpu.late();
        foreign += cpu.foreign();
    }
    if (late > 0)
        info += fmt::format("kernel.recorder.late={}\n", late);
    if (foreign > 0)
        info += fmt::format("kernel.recorder.foreign={}\n", foreign);
    if (probes_)
        info += fmt::format("kernel.programs={}\n", probes_->names());
    return info;
}

void Recorder::Session::finish()
{
    end_records();
    const std::string all = totals();
    const std::string of_functions =
        request_.functions.empty() ? ""
                                   : fmt::format("functions.too_deep={}\nfunctions.traps_left={}\n",
                                                 programs_.too_deep(), programs_.traps_left());
    try {
        pipe_.write_small(NSLICE_CHUNK_KERNEL_CALIBRATION,
                          calibrate(programs_, rings_, NSLICE_CALIBRATION_END, line_));
    } catch (const Refusal &) { // the trace then has the constants of its start only
    }
    pipe_.write_small(NSLICE_CHUNK_INFO, facts_at_end() + of_functions);
    pipe_.write_small(NSLICE_CHUNK_KERNEL_TOTALS, all);
}

Recorder::Recorder(const Request &request)
{
    const Silence silence;
    session_ = std::make_unique<Session>(request);
}

Recorder::~Recorder()
{
    const Silence silence;
    session_.reset();
}

int Recorder::descriptor() const
{
    return session_->descriptor();
}

void Recorder::end()
{
    session_->end();
}

void Recorder::select(const std::string &rules)
{
    session_->select(rules);
}
} // namespace nsbpf
