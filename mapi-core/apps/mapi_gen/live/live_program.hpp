// SPDX-License-Identifier: MIT
// live_program: work -> eBPF: an XDP program that makes each frame and redirects it, and a program
// that counts what the driver took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mapi_gen/sender.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace mapi_gen
{
// What the two programs of a thread and the thread itself share; 64 bits each.
enum StateWord : uint32_t {
    kStart,    // ns: of the schedule; without a rate, when the first frame was made
    kLimit,    // of kAsked; 0 stops
    kAsked,    // frames redirected
    kBytes,    // of these, with checksums
    kLast,     // ns: when kAsked reached kLimit
    kNext,     // as Pace::next_
    kSoonest,  // as Pace::soonest_
    kGivenUp,  // as Pace::given_up_
    kVariant,  // of the next frame
    kThread,   // the thread that sends
    kAccepted, // frames that the driver took
    kDropped,  // frames that it did not take
    kError,    // its last error number, negative
    kHeader,   // of generated frames: kHeaderWords words
};
constexpr uint32_t kHeaderWords = (kHeaderBytes + 7) / 8;
constexpr uint32_t kStateWords = kHeader + kHeaderWords;

// Packets of a capture lie in a map, one behind the other, in slots of this form.
constexpr uint32_t kSlotBytesAt = 0, kSlotCostAt = 8, kSlotDataAt = 16;
inline uint32_t slot_bytes(uint64_t longest)
{
    return uint32_t(kSlotDataAt + (longest + 7) / 8 * 8);
}

struct LiveSetup {
    const Work &work;
    int state;     // the map's descriptor
    int packets;   // of a capture
    bool is_paced; // in the kernel
};
void write_sender(const LiveSetup &setup, mapi::match::EbpfCode &code);

// For the tracepoint xdp_devmap_xmit: the kernel calls it for each bulk of frames that a driver
// got. `index_at` is where struct net_device has the number of the interface.
void write_counter(const LiveSetup &setup, int16_t index_at, mapi::match::EbpfCode &code);
} // namespace mapi_gen
