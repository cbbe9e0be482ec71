// SPDX-License-Identifier: MIT
// Line limit: counts by kind and user.
#include "daemon/reporting/line_limit.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mapi::daemon
{
bool LineLimit::admit(Clock::time_point now, std::string_view kind, uid_t user, const LogLine &line)
{
    Key key{kind, user};
    if (counts_.size() >= kCountsMost && !counts_.contains(key))
        key.second.reset();
    Count &count = counts_.try_emplace(key, Count{now}).first->second;
    if (count.logged < kFirst) {
        ++count.logged;
        return true;
    }
    count.last = line;
    ++count.waiting;
    return false;
}

std::optional<LogLine> LineLimit::take(Clock::time_point now, Clock::duration interval)
{
    for (auto at = counts_.begin(); at != counts_.end();) {
        auto &[key, count] = *at;
        if (now - count.begin < interval) {
            ++at;
        } else if (count.waiting == 0) { // an interval without a line left out: as if new
            at = counts_.erase(at);
        } else {
            LogLine line = count.last; // nothing is changed before all memory is there
            if (count.waiting > 1)
                line.text += fmt::format(
                    " ({} more like this{} in {} s)", count.waiting - 1,
                    key.second ? "" : ", of several users,",
                    std::max<int64_t>(
                        1, std::chrono::round<std::chrono::seconds>(now - count.begin).count()));
            count.begin = now;
            count.waiting = 0;
            return line;
        }
    }
    return {};
}

LineLimit::Clock::time_point LineLimit::next_end() const
{
    auto first = Clock::time_point::max();
    for (const auto &[key, count] : counts_)
        first = std::min(first, count.begin + kInterval);
    return first;
}
} // namespace mapi::daemon
