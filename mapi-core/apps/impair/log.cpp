// SPDX-License-Identifier: MIT
// Log: records -> lines of JSON, written by a thread of its own.
#include "log.hpp"

#include <csignal>
#include <iterator>

#include <fmt/format.h>

namespace impair
{
namespace
{
constexpr size_t kCollected = 1024;
constexpr size_t kMostPending = 1'000'000;

std::thread without_interrupts(const auto &run)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); // the main thread gets them
    std::thread made(run);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made;
}
} // namespace

void append_line(std::string &text, const Record &record)
{
    const auto out = std::back_inserter(text);
    fmt::format_to(out,
                   R"({{"type":"packet","direction":"{}","number":{},"bytes":{},)"
                   R"("digest":"{:016x}","outcome":"{}","copies":{},"duplicated":{},)"
                   R"("reordered":{},"in_ns":{},"in_mono_ns":{})",
                   name_of(record.direction), record.number, record.bytes, record.digest,
                   name_of(record.outcome), record.copies, record.wanted > 1, record.is_reordered,
                   record.in.real_ns, record.in.mono_ns);
    if (record.due_ns > 0)
        fmt::format_to(out, R"(,"due_mono_ns":{})", record.due_ns);
    if (record.out.mono_ns > 0)
        fmt::format_to(out, R"(,"out_ns":{},"out_mono_ns":{})", record.out.real_ns,
                       record.out.mono_ns);
    text += "}\n";
}

Log::Log(const std::string &path, const std::string &first_line) : output_(path)
{
    output_.text() += first_line;
    output_.flush();
    thread_ = without_interrupts([this] { write(); });
}

Log::~Log()
{
    stop();
}

void Log::add(const Record &record)
{
    collected_.push_back(record);
    if (collected_.size() >= kCollected)
        hand_over();
}

void Log::hand_over()
{
    if (collected_.empty())
        return;
    {
        std::unique_lock lock(mutex_);
        if (pending_.size() >= kMostPending && !failure_) {
            ++waits_;
            has_room_.wait(lock, [&] { return pending_.size() < kMostPending || failure_; });
        }
        if (!failure_)
            pending_.insert(pending_.end(), collected_.begin(), collected_.end());
    }
    has_work_.notify_one();
    collected_.clear();
}

bool Log::has_failed()
{
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
}

void Log::write()
{
    std::vector<Record> taken;
    for (bool is_over = false; !is_over;) {
        {
            std::unique_lock lock(mutex_);
            has_work_.wait(lock, [&] { return is_over_ || !pending_.empty(); });
            taken.swap(pending_);
            is_over = is_over_;
        }
        has_room_.notify_one();
        try {
            for (const Record &record : taken) {
                append_line(output_.text(), record);
                output_.flush_when_full();
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
            has_room_.notify_one();
            return;
        }
        taken.clear();
    }
}

void Log::stop()
{
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    has_work_.notify_one();
    if (thread_.joinable())
        thread_.join();
}

void Log::finish(const std::string &last_line)
{
    hand_over();
    stop();
    if (failure_)
        std::rethrow_exception(failure_);
    output_.text() += last_line;
    output_.finish();
}
} // namespace impair
