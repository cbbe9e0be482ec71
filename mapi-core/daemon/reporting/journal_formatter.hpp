// SPDX-License-Identifier: MIT
// Journal formatter: a line of the log -> "<N>text", N as in syslog(3), which journald takes as the
// line's priority.
#pragma once

#include <array>
#include <memory>

#include <spdlog/formatter.h>
#include <syslog.h>

namespace mapi::daemon
{
class JournalFormatter final : public spdlog::formatter
{
public:
    void format(const spdlog::details::log_msg &line, spdlog::memory_buf_t &to) override
    {
        static constexpr std::array kPriorities = {
            LOG_DEBUG, LOG_DEBUG, LOG_INFO, LOG_WARNING,
            LOG_ERR,   LOG_CRIT,  LOG_CRIT}; // by spdlog's levels
        const char begin[] = {'<', char('0' + kPriorities.at(size_t(line.level))), '>'};
        to.append(begin, begin + sizeof(begin));
        to.append(line.payload.begin(), line.payload.end());
        to.push_back('\n');
    }
    std::unique_ptr<spdlog::formatter> clone() const override
    {
        return std::make_unique<JournalFormatter>();
    }
};
} // namespace mapi::daemon
