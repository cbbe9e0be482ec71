// SPDX-License-Identifier: MIT
// Cost turns: who may measure the cost of functions in the kernel, and when.  While it is measured,
// each run of any BPF program of the machine costs two readings of a clock more.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include "daemon/session/policy.hpp"

namespace mapi::daemon
{
// Any thread.  One measurement at a time.  Users other than operators together measure for a tenth
// of the time, with a credit that lets them measure several devices in a row.
class CostTurns
{
public:
    using Clock = std::chrono::steady_clock;

    class Turn
    {
    public:
        explicit Turn(CostTurns &turns) : turns_(turns) {}
        ~Turn() { turns_.end(); }
        Turn(const Turn &) = delete;
        Turn &operator=(const Turn &) = delete;

    private:
        CostTurns &turns_;
    };

    // Throws Error if it is someone else's turn, or the credit is used up.
    Turn begin(const Peer &peer, std::chrono::milliseconds duration,
               Clock::time_point now = Clock::now());

private:
    void end();

    static constexpr std::chrono::milliseconds kCreditMost{10000};
    static constexpr int kTimePerCredit = 10;

    std::mutex mutex_; // all below
    bool is_taken_ = false;
    std::chrono::milliseconds credit_ = kCreditMost;
    Clock::time_point counted_at_ = {}; // the credit
};
} // namespace mapi::daemon
