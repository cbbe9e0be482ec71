// SPDX-License-Identifier: MIT
// sender: what a thread is to send -> packets on the interface, and what became of them.
#pragma once

#include <cstdint>
#include <ctime>

#include "interface.hpp"
#include "pace.hpp"
#include "packets.hpp"

namespace mapi_gen
{
// Of one thread.  It sends variants first, first + step, ... of the packets, in a circle.
struct Work {
    const Packets &packets;
    const Interface &interface;
    Rate rate;
    unsigned threads = 1;
    uint64_t first = 0;
    uint64_t step = 1;
    uint64_t share = UINT64_MAX; // packets to send
    Ticks offset = 0;            // of this thread's first packet in it
};

struct Counts {
    uint64_t packets = 0; // the kernel or the driver took them
    uint64_t bytes = 0;   // of these, with their frames' checksums
    uint64_t refused = 0;
    uint64_t behind = 0; // packets of the schedule that were given up
    int error = 0;       // the last errno of the refused; 0: unknown

    Counts &operator+=(const Counts &other)
    {
        packets += other.packets;
        bytes += other.bytes;
        refused += other.refused;
        behind += other.behind;
        error = other.error ? other.error : error;
        return *this;
    }
};

class Sender
{
public:
    virtual ~Sender() = default;

    // In the sending thread, until its share is sent or stop() is called.  With a rate, the
    // schedule starts at `start_ns` of the monotonic clock; otherwise the thread does.
    virtual void run(uint64_t start_ns) = 0;

    // In any thread.
    virtual void stop() = 0;
    virtual Counts counts() const = 0;
    // Everything is sent, or stop() was called, but run() may need a signal to return.
    virtual bool is_over() const = 0;
    virtual uint64_t first_ns() const = 0; // when it began to send; 0: not yet
    virtual uint64_t last_ns() const = 0;  // when its share was sent; 0: not yet
};

inline uint64_t now_ns()
{
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

// Returns at `time_ns`, but after at most 10 ms, so that stop() is seen.
inline void sleep_until(uint64_t time_ns)
{
    const uint64_t until = std::min(time_ns, now_ns() + 10'000'000);
    const timespec time = {time_t(until / 1'000'000'000), long(until % 1'000'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

inline Ticks since(uint64_t start_ns)
{
    const uint64_t now = now_ns();
    return now > start_ns ? ticks(now - start_ns) : 0;
}

// Of the schedule, as a number of packets.
inline uint64_t packets_in(Ticks time, const Work &work)
{
    if (!work.rate.is_given())
        return 0;
    const auto mean = uint64_t(work.packets.mean_wire_bytes());
    return time / cost_of(work.rate, mean, work.threads);
}
} // namespace mapi_gen
