// SPDX-License-Identifier: MIT
// ctf: the events of one CPU -> packets of a CTF stream.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "decode/event.hpp"

namespace nsdump
{
struct CtfStreamInfo {
    std::array<uint8_t, 16> uuid{};
    bool is_kernel = false;
    uint32_t cpu = 0;
};

class CtfStream
{
public:
    using Write = std::function<void(std::string_view)>;

    CtfStream(const CtfStreamInfo &info, Write write);

    void add(const Event &event);
    // From here on, `records` of this CPU are lost in all.  A loss lies between two packets.
    void set_lost(uint64_t records);
    // Writes what is left.
    void finish();
    // Events whose clock reads less than that of the event before, which CTF cannot express: they
    // have its timestamp.
    uint64_t ticks_back() const { return ticks_back_; }

private:
    static constexpr size_t kFullBytes = 1 << 16;

    void end_packet();

    CtfStreamInfo info_;
    Write write_;
    std::string packet_; // header, context, events
    uint64_t events_ = 0;
    uint64_t first_ticks_ = 0, last_ticks_ = 0;
    uint64_t sequence_ = 0;
    uint64_t lost_ = 0;
    bool has_loss_ = false; // not yet in a packet
    uint64_t ticks_back_ = 0;
};
} // namespace nsdump
