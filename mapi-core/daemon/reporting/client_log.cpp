// SPDX-License-Identifier: MIT
// Client log: a thread that logs, after each interval, how many lines were left out.
#include "daemon/reporting/client_log.hpp"

#include <new>

#include <spdlog/spdlog.h>

namespace mapi::daemon
{
namespace
{
constexpr std::chrono::seconds kPauseWithoutMemory{1};
} // namespace

ClientLog::~ClientLog()
{
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

void ClientLog::write(spdlog::level::level_enum level, uid_t user, fmt::string_view format,
                      fmt::format_args words) noexcept
{
    if (!spdlog::should_log(level))
        return;
    try {
        const LogLine line{level, fmt::vformat(format, words)};
        if (admit(format, user, line))
            spdlog::log(level, line.text);
    } catch (const std::exception &error) { // no memory: no line is left out without a count
        spdlog::log(level, "{}: {}", format, error.what());
    }
}

bool ClientLog::admit(fmt::string_view format, uid_t user, const LogLine &line)
{
    const std::lock_guard lock(mutex_);
    const bool was_empty = limit_.is_empty();
    const bool is_now =
        limit_.admit(LineLimit::Clock::now(), {format.data(), format.size()}, user, line);
    if (was_empty) // otherwise the thread waits for an interval that ends earlier
        changed_.notify_all();
    return is_now;
}

void ClientLog::run()
{
    std::unique_lock lock(mutex_);
    while (!has_ended_) {
        if (limit_.is_empty())
            changed_.wait(lock, [this] { return !limit_.is_empty() || has_ended_; });
        else if (!changed_.wait_until(lock, limit_.next_end(), [this] { return has_ended_; }))
            log_counted(lock, LineLimit::kInterval);
    }
    log_counted(lock, LineLimit::Clock::duration::zero());
}

// The log may be slow: the lock is not held while a line is written.
void ClientLog::log_counted(std::unique_lock<std::mutex> &lock, LineLimit::Clock::duration interval)
{
    try {
        while (const auto line = limit_.take(LineLimit::Clock::now(), interval)) {
            lock.unlock();
            spdlog::log(line->level, line->text);
            lock.lock();
        }
    } catch (const std::bad_alloc &) { // the count is kept
        changed_.wait_for(lock, kPauseWithoutMemory, [this] { return has_ended_; });
    }
}
} // namespace mapi::daemon
