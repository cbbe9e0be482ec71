// SPDX-License-Identifier: MIT
// Interface watch: state changes of an interface while it is read -> the device's message, and when
// to reopen it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <net/if.h>

namespace mapi::drivers
{
// Device's thread, except message(): the source's lock excludes concurrent changes.
class InterfaceWatch
{
    using Clock = std::chrono::steady_clock;

public:
    // patience: how long after the interface disappeared its earlier packets may still be
    // delivered.  Sources of libpcap that are not network interfaces are watched, too.
    InterfaceWatch(std::string interface, std::chrono::milliseconds patience)
        : interface_(std::move(interface)), patience_(patience), is_network_(exists())
    {
    }

    void went_down() { ++times_down_; }

    // The open source will give no new packets.
    void goes()
    {
        if (!gone_since_)
            gone_since_ = Clock::now();
    }
    bool is_going() const { return gone_since_.has_value(); }
    // True once the time for earlier packets is over.
    bool is_over()
    {
        goes();
        return Clock::now() - *gone_since_ >= patience_;
    }

    // The source was closed.
    void went_away()
    {
        gone_since_.reset();
        ++times_gone_;
        problem_ = interface_ + ": the interface has disappeared; waiting for it to return";
        if (Clock::now() - opened_ < kTryInterval) // it may exist but be unusable
            next_try_ = Clock::now() + kTryInterval;
    }
    bool may_be_back() const { return Clock::now() >= next_try_ && (!is_network_ || exists()); }
    void came_back()
    {
        problem_.clear();
        opened_ = Clock::now();
    }
    void could_not_be_opened(const char *why)
    {
        problem_ = why;
        next_try_ = Clock::now() + kTryInterval;
    }

    // Empty if there is nothing to report.
    std::string message() const
    {
        if (!problem_.empty() || (times_down_ == 0 && times_gone_ == 0))
            return problem_;
        const auto times = [](const char *what, uint64_t count) {
            return count == 0 ? std::string()
                              : what + std::to_string(count) + (count == 1 ? " time" : " times");
        };
        return interface_ + ": the interface was " + times("down ", times_down_) +
               (times_down_ && times_gone_ ? " and " : "") + times("gone ", times_gone_) +
               "; packets are read while it is up";
    }

private:
    static constexpr auto kTryInterval = std::chrono::seconds(1);

    bool exists() const { return if_nametoindex(interface_.c_str()) != 0; }

    const std::string interface_;
    const std::chrono::milliseconds patience_;
    const bool is_network_;
    std::optional<Clock::time_point> gone_since_;
    Clock::time_point opened_;
    Clock::time_point next_try_;
    uint64_t times_down_ = 0;
    uint64_t times_gone_ = 0;
    std::string problem_; // why nothing can be read now
};
} // namespace mapi::drivers
