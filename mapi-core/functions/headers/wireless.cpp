// SPDX-License-Identifier: MIT
// IEEE 802.11 frames, plain or after the receiver's header: radiotap, AVS, Prism.
#include "headers/walk.hpp"

namespace mapi::headers
{
namespace
{
using links::Start;

constexpr uint32_t kMostHeaderBytes = 1u << 16;

// Frames that contain no packet.
void end_without_packet(Walk &walk)
{
    walk.stop();
    walk.is_lost = false;
}

// Frame control, addresses, sequence, then fields depending on flags and type; encrypted,
// aggregated and fragmented frames cannot be read.
void begin_frame(Walk &walk, bool is_padded)
{
    enum Control : uint8_t { kTypeMask = 0x0c, kData = 0x08, kNoData = 0x40, kQuality = 0x80 };
    enum Flag : uint8_t { kToSystem = 0x01, kFromSystem = 0x02, kProtected = 0x40, kOrder = 0x80 };
    constexpr uint32_t kBytes = 24, kAddressBytes = 6, kQualityBytes = 2, kThroughputBytes = 4,
                       kSequenceAt = 22;
    constexpr uint8_t kFragmentMask = 0x0f, kAggregate = 0x80;
    if (!walk.has(2))
        return;
    const uint8_t control = walk.byte(0), flags = walk.byte(1);
    if ((control & kTypeMask) != kData || (control & kNoData)) {
        end_without_packet(walk);
        return;
    }
    uint32_t bytes = kBytes;
    if ((flags & kToSystem) && (flags & kFromSystem))
        bytes += kAddressBytes;
    const uint32_t quality_at = bytes;
    if (control & kQuality)
        bytes += kQualityBytes + (flags & kOrder ? kThroughputBytes : 0);
    if (is_padded)
        bytes = (bytes + 3) & ~3u;
    const bool is_readable = walk.has(bytes) && !(flags & kProtected) &&
                             !(walk.byte(kSequenceAt) & kFragmentMask) &&
                             !((control & kQuality) && (walk.byte(quality_at) & kAggregate));
    if (is_readable)
        begin_llc(walk, bytes);
}

// After a header of that many bytes, which the capture contains.
void begin_frame_behind(Walk &walk, uint32_t bytes, uint32_t least, bool is_padded = false)
{
    if (bytes < least || bytes > kMostHeaderBytes || !walk.has(bytes))
        return;
    walk.at += bytes;
    begin_frame(walk, is_padded);
}

// The fields follow words that list them, the last of which has its top bit clear; the second field
// may say that the frame's header is padded (radiotap.org).
void begin_radiotap(Walk &walk)
{
    constexpr uint32_t kLeast = 8, kTimer = 1u << 0, kFlags = 1u << 1, kMore = 1u << 31,
                       kTimerBytes = 8;
    constexpr uint8_t kDataPad = 0x20;
    if (!walk.has(kLeast))
        return;
    const uint32_t bytes = walk.little_half(2), present = walk.little_word(4);
    uint32_t at = 4;
    while (at + 8 <= bytes && walk.has(at + 8) && (walk.little_word(at) & kMore))
        at += 4;
    at += 4;
    if (present & kTimer)
        at = ((at + kTimerBytes - 1) & ~(kTimerBytes - 1)) + kTimerBytes;
    const bool is_padded =
        (present & kFlags) && at < bytes && walk.has(at + 1) && (walk.byte(at) & kDataPad);
    begin_frame_behind(walk, bytes, kLeast, is_padded);
}

void begin_avs(Walk &walk)
{
    constexpr uint32_t kLeast = 8;
    if (walk.has(kLeast))
        begin_frame_behind(walk, walk.word(4), kLeast);
}

// Some drivers provide an AVS header in its place.
void begin_prism(Walk &walk)
{
    constexpr uint32_t kBytes = 144, kAvsMagic = 0x80211000;
    if (walk.has(4) && (walk.word(0) & 0xfffff000) == kAvsMagic)
        begin_avs(walk);
    else
        begin_frame_behind(walk, kBytes, kBytes);
}
} // namespace

void begin_wireless(Walk &walk, Start start)
{
    switch (start) {
    case Start::kRadiotap: begin_radiotap(walk); break;
    case Start::kAvs: begin_avs(walk); break;
    case Start::kPrism: begin_prism(walk); break;
    default: begin_frame(walk, false); break;
    }
}
} // namespace mapi::headers
