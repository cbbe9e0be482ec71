// SPDX-License-Identifier: MIT
// record: what the log says of a packet, and the sums of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "impairment.hpp"

namespace impair
{
enum class Outcome : uint8_t {
    kSent,
    kLost,    // as chosen
    kFull,    // the queue had no room
    kTooLong, // for the other interface, or merged by an offload
    kRefused, // by the kernel
    kUnsent,  // it waited when the program ended
};
constexpr size_t kOutcomes = 6;

constexpr std::string_view name_of(Outcome outcome)
{
    constexpr std::string_view kNames[kOutcomes] = {"sent",     "lost",    "full",
                                                    "too_long", "refused", "unsent"};
    return kNames[size_t(outcome)];
}

// Of one instant.
struct Times {
    uint64_t real_ns = 0; // CLOCK_REALTIME
    uint64_t mono_ns = 0; // CLOCK_MONOTONIC
};

struct Record {
    uint64_t number = 0; // of packets of this direction, from 0
    uint64_t digest = 0;
    uint32_t bytes = 0;
    Direction direction = kForward;
    Outcome outcome = Outcome::kUnsent;
    bool is_reordered = false;
    uint8_t wanted = 1;  // copies, the packet itself included
    uint8_t copies = 0;  // that the kernel took
    uint64_t due_ns = 0; // CLOCK_MONOTONIC
    Times in;
    Times out; // read before the kernel is given the packet; 0 if it never was
};

struct Sums {
    uint64_t packets = 0;
    uint64_t outcomes[kOutcomes] = {};
    uint64_t duplicated = 0; // second copies that the kernel took
    uint64_t reordered = 0;
    uint64_t bytes = 0;    // of sent packets
    uint64_t delay_ns = 0; // out - in of sent packets
    uint64_t late_ns = 0;  // out - due of sent packets
    uint64_t most_late_ns = 0;
    uint64_t missed = 0; // the socket had no room for them: they have no record

    uint64_t count(Outcome outcome) const { return outcomes[size_t(outcome)]; }
    void add(const Record &record)
    {
        ++packets;
        ++outcomes[size_t(record.outcome)];
        if (record.outcome != Outcome::kSent)
            return;
        duplicated += record.copies - 1U;
        reordered += record.is_reordered;
        bytes += record.bytes;
        delay_ns += record.out.mono_ns - record.in.mono_ns;
        const uint64_t late = record.out.mono_ns - record.due_ns;
        late_ns += late;
        most_late_ns = late > most_late_ns ? late : most_late_ns;
    }
};
} // namespace impair
