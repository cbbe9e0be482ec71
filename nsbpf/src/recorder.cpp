// SPDX-License-Identifier: MIT
// Recorder: a thread that drains the rings of the programs into a pipe.
#include "nsbpf/recorder.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nslice/file.h>
#include <nslice/ring.h>

#include "calibration.hpp"
#include "chunk_pipe.hpp"
#include "clock_line.hpp"
#include "mapped_ring.hpp"
#include "point_table.hpp"
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
constexpr uint64_t kQuiet = 16; // a ring with less than this part in use

#if defined(__x86_64__)
constexpr const char *kClock = "tsc";
#else
constexpr const char *kClock = "cntvct";
#endif
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
        const std::string at_start = calibrate(programs_, rings_, NSLICE_CALIBRATION_START, line_);
        programs_.attach_groups();
        programs_.select(request_.slices);
        for (const auto &ring : rings_) // the trace begins here, at one moment of each CPU
            ring->begin();
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
        programs_.select(rules);
        rules_ = rules;
        has_new_rules_ = true;
    }

private:
    void run(const std::string &at_start);
    bool write_head(const std::string &at_start);
    uint64_t pass();
    void pause(uint64_t fullest);
    void write_rules();
    void follow_clocks();
    void finish();
    std::string totals() const;

    const Request request_;
    Programs programs_;
    Rings rings_;
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
    if (request_.pid)
        info += fmt::format("kernel.filter.pid={}\n", request_.pid);
    info += missing_text(programs_.kernel(), programs_.groups());
    return pipe_.write_small(NSLICE_CHUNK_INFO, info) &&
           pipe_.write_small(NSLICE_CHUNK_KERNEL_CALIBRATION, at_start) &&
           pipe_.write_small(NSLICE_CHUNK_KERNEL_SITES, site_chunk(programs_.groups()));
}

void Recorder::Session::run(const std::string &at_start)
{
    sigset_t all;
    sigfillset(&all); // also SIGPIPE, if the reader is gone
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    bool is_read = write_head(at_start);
    while (is_read && !is_over_) {
        follow_clocks();
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
    next_pair_ = now + kPairInterval;
}

// Returns the bytes of the fullest ring.
uint64_t Recorder::Session::pass()
{
    uint64_t fullest = 0;
    if (has_new_rules_.exchange(false))
        write_rules();
    for (const auto &ring : rings_) {
        ring->watch();
        uint64_t taken = 0, bytes;
        while ((bytes = ring->take(pipe_, line_)) > 0)
            taken += bytes;
        fullest = std::max(fullest, taken);
    }
    return fullest;
}

// Each time that this thread runs it takes the CPU from a program, which is in the trace.
void Recorder::Session::pause(uint64_t fullest)
{
    const auto most = std::clamp(kMostPause * int64_t(programs_.ring_bytes()) / kRingOfMostPause,
                                 kLeastPause, kMostPause);
    pause_ = fullest < programs_.ring_bytes() / kQuiet ? std::min(2 * pause_, most) : kLeastPause;
    if (fullest < kFullChunk)
        std::this_thread::sleep_for(pause_);
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
    for (const auto &ring : rings_) {
        const nslice_file_footer_cpu row = ring->row();
        if (row.issued == 0)
            continue;
        ++head.cpus;
        rows.append(reinterpret_cast<const char *>(&row), sizeof(row));
    }
    return std::string(reinterpret_cast<const char *>(&head), sizeof(head)) + rows;
}

void Recorder::Session::finish()
{
    for (const auto &ring : rings_) // the trace ends here, at one moment of each CPU
        ring->end();
    programs_.silence();
    programs_.detach_groups();
    const auto pending = [&] {
        return std::ranges::any_of(rings_, [](const auto &ring) { return ring->pending() > 0; });
    };
    line_.add(read_clocks());
    pass();
    for (int tries = 0; tries < kTornTries && pending(); ++tries) {
        std::this_thread::sleep_for(kTornPause);
        pass();
    }
    for (const auto &ring : rings_)
        ring->settle();
    const std::string all = totals();
    try {
        pipe_.write_small(NSLICE_CHUNK_KERNEL_CALIBRATION,
                          calibrate(programs_, rings_, NSLICE_CALIBRATION_END, line_));
    } catch (const Refusal &) { // the trace then has the constants of its start only
    }
    std::string info = fmt::format("kernel.clock.residual_ns={:.1f}\n", line_.residual_ns());
    if (const uint64_t missed = programs_.missed(); missed > 0)
        info += fmt::format("kernel.recorder.missed={}\n", missed);
    pipe_.write_small(NSLICE_CHUNK_INFO, info);
    pipe_.write_small(NSLICE_CHUNK_KERNEL_TOTALS, all);
}

Recorder::Recorder(const Request &request) : session_(std::make_unique<Session>(request)) {}
Recorder::~Recorder() = default;

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
