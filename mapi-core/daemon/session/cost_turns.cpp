// SPDX-License-Identifier: MIT
// Cost turns: a request to measure -> its turn, or a refusal.
#include "daemon/session/cost_turns.hpp"

#include <algorithm>

#include "engine/error.hpp"

namespace mapi::daemon
{
CostTurns::Turn CostTurns::begin(const Peer &peer, std::chrono::milliseconds duration,
                                 Clock::time_point now)
{
    using std::chrono::milliseconds;
    const std::lock_guard lock(mutex_);
    if (is_taken_)
        throw Error(MAPI_LIMIT_REACHED, "another client is measuring a cost (one at a time)");
    if (!is_operator(peer)) {
        const auto earned = std::chrono::duration_cast<milliseconds>(now - counted_at_);
        credit_ = std::min(kCreditMost, credit_ + earned / kTimePerCredit);
        counted_at_ = now;
        if (credit_ < duration)
            throw Error(MAPI_LIMIT_REACHED,
                        "users have measured costs too often; try again in " +
                            std::to_string(std::chrono::ceil<std::chrono::seconds>(
                                               (duration - credit_) * kTimePerCredit)
                                               .count()) +
                            " s");
        credit_ -= duration;
    }
    is_taken_ = true;
    return Turn(*this);
}

void CostTurns::end()
{
    const std::lock_guard lock(mutex_);
    is_taken_ = false;
}
} // namespace mapi::daemon
