// SPDX-License-Identifier: MIT
// run: options, packets, an interface -> a sending thread for each CPU, until the end.
#include "run.hpp"

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>

#include "common/command/signals.h"
#include "common/command/tell.hpp"
#include "live/live_frames.hpp"
#include "packet_socket.hpp"

namespace mapi_gen
{
namespace
{
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kLookNs = 5'000'000;
constexpr uint64_t kBeforeStartNs = 50'000'000; // until all threads wait for their first packet
constexpr int kKick = SIGUSR1;                  // ends a call of BPF_PROG_RUN

using Senders = std::vector<std::unique_ptr<Sender>>;

// The kernel would refuse it only when the thread exists.
void check_cpus(const Options &options)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return;
    for (const unsigned cpu : options.cpus)
        if (!CPU_ISSET(cpu, &allowed))
            throw Refusal(fmt::format("--cpus: CPU {} does not exist, or this program may not run "
                                      "on it (taskset -p $$ shows where it may)",
                                      cpu));
}

std::vector<Work> divide(const Options &options, const Packets &packets, const Interface &interface)
{
    std::vector<Work> works;
    const unsigned threads = options.threads();
    for (unsigned i = 0; i < threads; ++i) {
        Work work{packets, interface, options.rate};
        work.threads = threads;
        work.first = i;
        work.step = threads;
        if (options.packets > 0)
            work.share = options.packets / threads + (i < options.packets % threads);
        if (options.rate.is_given()) // evenly between the packets of the others
            work.offset =
                cost_of(options.rate, uint64_t(packets.mean_wire_bytes()), threads) / threads * i;
        works.push_back(work);
    }
    return works;
}

Senders make_senders(const Options &options, const std::vector<Work> &works, std::string &method)
{
    std::string why = "chosen by --method";
    if (options.method != Method::kPacketSocket) {
        try {
            Senders senders = make_live_frames(works);
            method = "xdp";
            if (!options.is_quiet)
                command::tell("mapi-gen: {}: sends XDP live frames\n", options.interface);
            return senders;
        } catch (const Refusal &refusal) {
            if (options.method == Method::kXdp)
                throw Refusal(fmt::format("{}: {}", options.interface, refusal.what()));
            why = refusal.what();
        }
    }
    method = "af_packet";
    if (!options.is_quiet)
        command::tell("mapi-gen: {}: sends through AF_PACKET: {}\n", options.interface, why);
    Senders senders;
    for (const Work &work : works)
        senders.push_back(make_packet_socket(work));
    return senders;
}

// A sender and its thread.
struct Lane {
    Sender *sender;
    std::thread thread;
    std::atomic<bool> has_ended = false;
};

class Conductor
{
public:
    Conductor(const Options &options, const Interface &interface, const Senders &senders)
        : options_(options), interface_(interface), senders_(senders), lanes_(senders.size())
    {
    }

    // Returns how long it took.
    double conduct();
    Counts counts() const
    {
        Counts sum;
        for (const auto &sender : senders_)
            sum += sender->counts();
        return sum;
    }
    bool is_gone() const { return is_gone_; }

private:
    void start();
    void look();
    void stop();
    void tell_second(uint64_t now);
    bool has_ended() const
    {
        return std::all_of(lanes_.begin(), lanes_.end(),
                           [](const Lane &lane) { return lane.has_ended.load(); });
    }
    uint64_t begin_ns() const; // 0: not yet

    const Options &options_;
    const Interface &interface_;
    const Senders &senders_;
    std::vector<Lane> lanes_;
    uint64_t stopped_ns_ = 0;
    uint64_t told_ns_ = 0;
    Counts told_;
    bool is_gone_ = false;
};

void Conductor::start()
{
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(kKick, &action, nullptr); // without SA_RESTART
    sigset_t interrupts, before;
    sigemptyset(&interrupts);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&interrupts, number);
    pthread_sigmask(SIG_BLOCK, &interrupts, &before); // the main thread gets them
    const uint64_t start_ns = now_ns() + kBeforeStartNs;
    for (size_t i = 0; i < lanes_.size(); ++i) {
        Lane &lane = lanes_[i];
        lane.sender = senders_[i].get();
        lane.thread = std::thread([&lane, start_ns, this, i] {
            if (!options_.cpus.empty()) {
                cpu_set_t cpu;
                CPU_ZERO(&cpu);
                CPU_SET(options_.cpus[i], &cpu);
                pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
            }
            lane.sender->run(start_ns);
            lane.has_ended = true;
        });
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

uint64_t Conductor::begin_ns() const
{
    uint64_t begin = 0;
    for (const auto &sender : senders_)
        if (const uint64_t first = sender->first_ns(); first && (!begin || first < begin))
            begin = first;
    return begin;
}

void Conductor::stop()
{
    stopped_ns_ = now_ns();
    for (const auto &sender : senders_)
        sender->stop();
}

void Conductor::tell_second(uint64_t now)
{
    const uint64_t begin = begin_ns();
    if (begin == 0 || now < begin)
        return;
    told_ns_ = std::max(told_ns_, begin);
    if (now - told_ns_ < kSecondNs)
        return;
    is_gone_ = if_nametoindex(interface_.name.c_str()) != unsigned(interface_.index);
    const Counts counts = this->counts();
    if (!options_.is_quiet)
        command::tell("mapi-gen: {}\n", second_line(told_, counts, double(now - told_ns_) * 1e-9,
                                                    double(now - begin) * 1e-9));
    told_ = counts;
    told_ns_ = now;
}

// What is to be done every few milliseconds.
void Conductor::look()
{
    const uint64_t begin = begin_ns();
    uint64_t next = now_ns() + kLookNs;
    uint64_t end = UINT64_MAX;
    if (options_.seconds > 0 && begin > 0)
        end = begin + uint64_t(options_.seconds * double(kSecondNs));
    sleep_until(std::min(next, end));
    const uint64_t now = now_ns();
    if (!stopped_ns_ && (now >= end || command_was_interrupted() || is_gone_))
        stop();
    for (Lane &lane : lanes_)
        if (!lane.has_ended && lane.sender->is_over())
            pthread_kill(lane.thread.native_handle(), kKick);
    if (!stopped_ns_)
        tell_second(now);
}

double Conductor::conduct()
{
    start();
    while (!has_ended())
        look();
    for (Lane &lane : lanes_)
        lane.thread.join();
    uint64_t last = stopped_ns_;
    for (const auto &sender : senders_)
        last = std::max(stopped_ns_ ? stopped_ns_ : last, sender->last_ns());
    const uint64_t begin = begin_ns();
    return begin > 0 && last > begin ? double(last - begin) * 1e-9 : 0;
}
} // namespace

Outcome run(const Options &options, const Packets &packets, const Interface &interface,
            bool &is_gone)
{
    check_cpus(options);
    Outcome outcome;
    const auto dropped_before = count_dropped(interface);
    const std::vector<Work> works = divide(options, packets, interface);
    const Senders senders = make_senders(options, works, outcome.method);
    Conductor conductor(options, interface, senders);
    outcome.seconds = conductor.conduct();
    outcome.counts = conductor.counts();
    is_gone = conductor.is_gone();
    // the statistics are of 32 bits: so is the difference
    if (const auto dropped = count_dropped(interface); dropped && dropped_before)
        outcome.dropped = uint32_t(*dropped - *dropped_before);
    return outcome;
}
} // namespace mapi_gen
