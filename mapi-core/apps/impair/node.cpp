// SPDX-License-Identifier: MIT
// Node: packets that arrive at two ports -> the same, impaired, at the other port, and the log.
#include "node.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>

#include "common/command/signals.h"
#include "mapi_gen/packets.hpp"

namespace impair
{
namespace
{
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kLookNs = 100'000'000;      // for Ctrl-C, the log and the duration
constexpr uint64_t kMostAgeNs = 1'000'000'000; // of an arrival; beyond it, the clock has jumped

uint64_t read_clock(clockid_t clock)
{
    timespec time = {};
    clock_gettime(clock, &time);
    return uint64_t(time.tv_sec) * kSecondNs + uint64_t(time.tv_nsec);
}

Times now()
{
    return {read_clock(CLOCK_REALTIME), read_clock(CLOCK_MONOTONIC)};
}

// The kernel's time of arrival is of the real-time clock; its age gives that of the monotonic one.
Times time_of(uint64_t arrived_ns)
{
    const Times at = now();
    const uint64_t age_ns = at.real_ns - arrived_ns;
    if (arrived_ns == 0 || arrived_ns > at.real_ns || age_ns > kMostAgeNs)
        return at;
    return {arrived_ns, at.mono_ns - age_ns};
}

// The calling thread only: the log's keeps its own.
void take_priority(int priority)
{
    const sched_param wanted = {.sched_priority = priority};
    if (priority > 0 && sched_setscheduler(0, SCHED_FIFO, &wanted) != 0)
        throw mapi_gen::Refusal(
            fmt::format("--priority: {} (requires CAP_SYS_NICE: run as root, or raise ulimit -r)",
                        std::strerror(errno)));
}

Direction opposite(Direction direction)
{
    return direction == kForward ? kBackward : kForward;
}
} // namespace

Node::Node(const Options &options, std::array<Port, kDirections> &ports, Log *log)
    : options_(options), ports_(ports),
      log_(log), queues_{Queue(options.limit), Queue(options.limit)}, status_(!options.is_quiet)
{
}

void Node::finish(const Record &record)
{
    sums_[record.direction].add(record);
    if (log_)
        log_->add(record);
}

void Node::take(Direction direction, const Arrival &arrival)
{
    Packet packet;
    Record &record = packet.record;
    record.direction = direction;
    record.number = numbers_[direction]++;
    record.bytes = uint32_t(arrival.frame.size());
    record.in = time_of(arrival.real_ns);
    if (log_)
        record.digest = digest_of(arrival.frame);
    Choice choice;
    if (options_.is_impaired[direction])
        choice = choose(options_.impairment, options_.seed, direction, record.number);
    record.is_reordered = choice.is_reordered;
    record.wanted = choice.is_duplicated ? 2 : 1;
    record.outcome = arrival.is_merged              ? Outcome::kTooLong
                     : choice.is_lost               ? Outcome::kLost
                     : queues_[direction].is_full() ? Outcome::kFull
                                                    : Outcome::kUnsent;
    if (record.outcome != Outcome::kUnsent)
        return finish(record);
    record.due_ns = record.in.mono_ns + choice.delay_ns;
    if (!choice.is_reordered) {
        record.due_ns = std::max(record.due_ns, last_due_ns_[direction]);
        last_due_ns_[direction] = record.due_ns;
    }
    packet.frame.assign(arrival.frame.begin(), arrival.frame.end());
    queues_[direction].push(std::move(packet));
}

void Node::send(Packet packet)
{
    Record &record = packet.record;
    Port &port = ports_[opposite(record.direction)];
    record.out = now();
    int error = 0;
    for (unsigned i = 0; i < record.wanted && error == 0; ++i) {
        error = port.send(packet.frame);
        record.copies += error == 0;
    }
    record.outcome = record.copies > 0   ? Outcome::kSent
                     : error == EMSGSIZE ? Outcome::kTooLong
                                         : Outcome::kRefused;
    finish(record);
}

void Node::send_due()
{
    for (Queue &queue : queues_)
        while (!queue.is_empty() && queue.due_ns() <= read_clock(CLOCK_MONOTONIC))
            send(queue.pop());
}

// Until a packet arrives, or one is nearly due.
void Node::wait()
{
    const uint64_t at = read_clock(CLOCK_MONOTONIC);
    const uint64_t due = std::min(queues_[kForward].due_ns(), queues_[kBackward].due_ns());
    uint64_t left = kLookNs;
    if (due != UINT64_MAX) {
        if (due <= at + options_.spin_ns)
            return;
        left = std::min(left, due - at - options_.spin_ns);
    }
    pollfd files[kDirections] = {};
    for (size_t i = 0; i < kDirections; ++i)
        files[i] = {ports_[i].number(), POLLIN, 0};
    const timespec time = {0, long(left)};
    ppoll(files, kDirections, &time, nullptr);
}

bool Node::is_over()
{
    for (const Port &port : ports_)
        if (port.gone() && gone_.empty())
            gone_ = fmt::format("{}: the interface went away: {}", port.interface().name,
                                std::strerror(port.gone()));
    const uint64_t at = read_clock(CLOCK_MONOTONIC);
    const bool is_late =
        options_.seconds > 0 && double(at - begin_ns_) >= options_.seconds * double(kSecondNs);
    bool has_failed = false;
    if (at - looked_ns_ >= kLookNs) {
        looked_ns_ = at;
        show(at);
        if (log_) {
            log_->hand_over();
            has_failed = log_->has_failed();
        }
    }
    return is_late || has_failed || !gone_.empty() || command_was_interrupted();
}

// Each second, on a terminal.
void Node::show(uint64_t now_ns)
{
    if (!status_.is_on() || now_ns - shown_ns_ < kSecondNs)
        return;
    shown_ns_ = now_ns;
    std::string line = fmt::format("{:.0f} s", double(now_ns - begin_ns_) / double(kSecondNs));
    for (const Direction direction : {kForward, kBackward})
        line += fmt::format("; {}: {} arrived, {} sent, {} wait", name_of(direction),
                            numbers_[direction], sums_[direction].count(Outcome::kSent),
                            queues_[direction].size());
    status_.show(line);
}

Result Node::run()
{
    take_priority(options_.priority);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // 50 us otherwise
    begin_ns_ = read_clock(CLOCK_MONOTONIC);
    while (!is_over()) {
        size_t count = 0;
        for (const Direction direction : {kForward, kBackward}) {
            count += ports_[direction].receive(
                [&](const Arrival &arrival) { take(direction, arrival); });
            send_due();
        }
        if (count == 0)
            wait();
    }
    status_.clear();
    Result result;
    result.seconds = double(read_clock(CLOCK_MONOTONIC) - begin_ns_) / double(kSecondNs);
    for (Queue &queue : queues_)
        while (!queue.is_empty())
            finish(queue.pop().record);
    for (size_t i = 0; i < kDirections; ++i)
        sums_[i].missed = ports_[i].missed();
    result.sums = sums_;
    result.log_waits = log_ ? log_->waits() : 0;
    result.gone = gone_;
    return result;
}
} // namespace impair
