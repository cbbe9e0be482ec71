// SPDX-License-Identifier: MIT
// Read-ahead policy: reading times of pieces with one thread and with a helping thread -> whether
// it helps.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mapi::drivers
{
// Data read by the other thread is in that processor's cache.  If the processor is near, this saves
// a quarter of the time, but from another part of the chip each byte may take twice as long as
// reading it in this thread.  No system call reports which case applies, and the host of a virtual
// machine may change it at any time.  So both are measured, repeatedly.
class ReadAheadPolicy
{
public:
    static constexpr uint32_t kFirstPieces = 48; // untimed: memory is touched for the first time
    static constexpr uint32_t kUntimedPieces =
        8; // while the thread wakes up, or the pieces that it has read are used up
    static constexpr uint32_t kTimedPieces = 48;
    static constexpr uint32_t kPiecesBeforeHelp = kFirstPieces + kTimedPieces;
    static constexpr uint32_t kLookPieces = 16; // timed with help before giving up if it is slower
    static constexpr uint32_t kRestPieces = 2048;
    static constexpr uint32_t kFirstRestPieces = 1024,
                              kLongestRestPieces =
                                  32768; // after attempts without gain, doubled each time

    bool is_helped() const { return is_helped_; }
    // After each piece: whether turn() must be called.
    bool is_turn() { return --left_ == 0; }
    void turn(uint64_t now_ns)
    {
        switch (phase_) {
        case Phase::kUntimed: begin(Phase::kTimed, kTimedPieces, now_ns); break;
        case Phase::kTimed:
            alone_ns_ = now_ns - begin_ns_;
            go(Phase::kUntimedHelp, kUntimedPieces, true);
            break;
        case Phase::kUntimedHelp: begin(Phase::kTimedHelp, kLookPieces, now_ns); break;
        case Phase::kTimedHelp: judge(now_ns - begin_ns_); break;
        case Phase::kRest: go(Phase::kUntimed, kUntimedPieces, false); break;
        }
    }

private:
    enum class Phase : uint8_t { kUntimed, kTimed, kUntimedHelp, kTimedHelp, kRest };

    void go(Phase phase, uint32_t pieces, bool is_helped)
    {
        phase_ = phase;
        left_ = pieces;
        is_helped_ = is_helped;
    }
    void begin(Phase phase, uint32_t pieces, uint64_t now_ns)
    {
        begin_ns_ = now_ns;
        helped_pieces_ = pieces;
        go(phase, pieces, is_helped_);
    }
    // Small differences cannot be measured in such a short time: help is given up only if that
    // saves at least a sixth.
    void judge(uint64_t ns)
    {
        const bool helps = ns * kTimedPieces * 5 < alone_ns_ * helped_pieces_ * 6;
        if (helps && helped_pieces_ < kTimedPieces) {
            helped_pieces_ += kLookPieces;
            go(Phase::kTimedHelp, kLookPieces, true);
            return;
        }
        go(Phase::kRest, helps ? kRestPieces : rest_pieces_, helps);
        rest_pieces_ = helps ? kFirstRestPieces : std::min(rest_pieces_ * 2, kLongestRestPieces);
    }

    Phase phase_ = Phase::kUntimed;
    bool is_helped_ = false;
    uint32_t left_ = kFirstPieces;
    uint32_t rest_pieces_ = kFirstRestPieces;
    uint32_t helped_pieces_ = 0; // number timed
    uint64_t begin_ns_ = 0;
    uint64_t alone_ns_ = 0;
};
} // namespace mapi::drivers
