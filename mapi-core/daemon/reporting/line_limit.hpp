// SPDX-License-Identifier: MIT
// Line limit: lines of one kind about one user -> the first few immediately, then one line for
// each interval, with the number of those that were not logged.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <spdlog/common.h>
#include <sys/types.h>

namespace mapi::daemon
{
struct LogLine {
    spdlog::level::level_enum level = spdlog::level::info;
    std::string text;
};

// One thread at a time.  Takes bounded memory, however many users there are.
class LineLimit
{
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kInterval{10};
    static constexpr uint64_t kFirst = 5;
    // users beyond them share one count for each kind
    static constexpr size_t kCountsMost = 64;

    // True: the line is to be logged now; otherwise it is counted.  kind: a constant that outlives
    // the limit.
    bool admit(Clock::time_point now, std::string_view kind, uid_t user, const LogLine &line);

    // A line for those that were counted, of any count whose interval has ended; none: call again
    // at next_end().  interval: 0 for all counts.
    std::optional<LogLine> take(Clock::time_point now, Clock::duration interval = kInterval);
    Clock::time_point next_end() const;
    bool is_empty() const { return counts_.empty(); }

private:
    struct Count {
        Clock::time_point begin;
        uint64_t logged = 0, waiting = 0;
        LogLine last = {}; // of those that wait
    };
    // no user: all that have no count of their own
    using Key = std::pair<std::string_view, std::optional<uid_t>>;

    std::map<Key, Count> counts_;
};
} // namespace mapi::daemon
