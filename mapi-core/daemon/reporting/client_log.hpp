// SPDX-License-Identifier: MIT
// Client log: lines that clients can cause as often as they like -> the log, limited for each user
// and kind of line.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "daemon/reporting/line_limit.hpp"

namespace mapi::daemon
{
// Any thread.  Lines of level debug and trace, which show each request, are logged without it.
class ClientLog
{
public:
    ClientLog() : thread_([this] { run(); }) {}
    // Logs how many lines are still counted.
    ~ClientLog();
    ClientLog(const ClientLog &) = delete;
    ClientLog &operator=(const ClientLog &) = delete;

    // The format is the kind of line.
    template <class... Words>
    void info(uid_t user, fmt::format_string<Words...> format, Words &&...words)
    {
        write(spdlog::level::info, user, format, fmt::make_format_args(words...));
    }
    template <class... Words>
    void warn(uid_t user, fmt::format_string<Words...> format, Words &&...words)
    {
        write(spdlog::level::warn, user, format, fmt::make_format_args(words...));
    }
    template <class... Words>
    void error(uid_t user, fmt::format_string<Words...> format, Words &&...words)
    {
        write(spdlog::level::err, user, format, fmt::make_format_args(words...));
    }

private:
    void write(spdlog::level::level_enum level, uid_t user, fmt::string_view format,
               fmt::format_args words) noexcept;
    bool admit(fmt::string_view format, uid_t user, const LogLine &line);
    void run();
    void log_counted(std::unique_lock<std::mutex> &lock, LineLimit::Clock::duration interval);

    std::mutex mutex_; // protects all members below
    std::condition_variable changed_;
    bool has_ended_ = false;
    LineLimit limit_;
    std::thread thread_;
};
} // namespace mapi::daemon
