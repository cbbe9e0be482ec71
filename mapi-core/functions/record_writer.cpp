// SPDX-License-Identifier: MIT
// Record writer: records of one device thread -> a file.
#include "functions/record_writer.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace mapi::functions
{
namespace
{
constexpr size_t kRoomBytes = size_t(16) << 20;
constexpr size_t kWrittenBytes = size_t(1) << 20; // at least, while more comes
constexpr auto kLongest = std::chrono::milliseconds(100); // until less is written, too

constexpr int kPatienceMs = 1000; // with a pipe that takes nothing, once its flow is closed
constexpr int kPollMs = 100;
} // namespace

RecordWriter::RecordWriter(int descriptor, bool device_waits) : descriptor_(descriptor), device_waits_(device_waits)
{
    if (ftruncate(descriptor_, 0) == 0) // no pipe
        lseek(descriptor_, 0, SEEK_SET);
    // The program's signals are for its own threads; a broken pipe is told by write().
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RecordWriter::~RecordWriter()
{
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

void RecordWriter::set_header(std::string header)
{
    const std::lock_guard lock(mutex_);
    header_ = std::move(header);
}

void RecordWriter::add(std::string &bytes, uint64_t records)
{
    if (bytes.empty())
        return;
    std::unique_lock lock(mutex_);
    const auto has_room = [&] { return waiting_.empty() || waiting_.size() + bytes.size() <= kRoomBytes; };
    if (device_waits_)
        changed_.wait(lock, [&] { return has_room() || is_cancelled_; });
    if (has_room()) {
        waiting_ += bytes;
        waiting_records_ += records;
        if (is_hurried_ || (waiting_.size() >= kWrittenBytes && waiting_.size() - bytes.size() < kWrittenBytes))
            changed_.notify_all();
    } else {
        lost_.fetch_add(records, std::memory_order_relaxed);
    }
    bytes.clear();
}

void RecordWriter::hurry()
{
    const std::lock_guard lock(mutex_);
    is_hurried_ = true;
    changed_.notify_all();
}

bool RecordWriter::is_idle()
{
    const std::lock_guard lock(mutex_);
    return waiting_.empty() && header_.empty() && !is_writing_;
}

void RecordWriter::finish()
{
    hurry();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return (waiting_.empty() && header_.empty() && !is_writing_) || is_cancelled_; });
}

void RecordWriter::cancel()
{
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    changed_.notify_all();
}

void RecordWriter::run()
{
    std::unique_lock lock(mutex_);
    const auto has_work = [this] { return !waiting_.empty() || !header_.empty(); };
    const auto is_due = [&] { return is_stopping_ || waiting_.size() >= kWrittenBytes || (is_hurried_ && has_work()); };
    while (true) {
        changed_.wait_for(lock, kLongest, is_due);
        if (!has_work() && is_stopping_)
            return;
        if (!has_work())
            continue;
        const std::string header = std::exchange(header_, {}), records = std::exchange(waiting_, {});
        const uint64_t count = std::exchange(waiting_records_, 0);
        is_writing_ = true;
        lock.unlock();
        changed_.notify_all();
        const bool is_written = write(header + records);
        lock.lock();
        if (!is_written) {
            lost_.fetch_add(count, std::memory_order_relaxed);
            if (!is_stopping_ && !is_hurried_)
                header_ = header; // the next records need it, too
        }
        is_writing_ = false;
        changed_.notify_all();
    }
}

// Of a pipe that is full.  False: it stays so, and nobody waits for its file any more.
bool RecordWriter::wait_for_reader()
{
    pollfd pipe = {descriptor_, POLLOUT, 0};
    for (int waited_ms = 0; poll(&pipe, 1, kPollMs) <= 0; waited_ms += kPollMs) {
        const std::lock_guard lock(mutex_);
        if (!is_cancelled_ && !is_stopping_)
            waited_ms = 0;
        else if (waited_ms >= kPatienceMs)
            return false;
    }
    return true;
}

// All of it, or nothing: the next records begin where a reader looks for them.
bool RecordWriter::write(const std::string &bytes)
{
    const off_t begin = lseek(descriptor_, 0, SEEK_CUR);
    size_t written = 0;
    while (written < bytes.size()) {
        const ssize_t count = ::write(descriptor_, bytes.data() + written, bytes.size() - written);
        if (count > 0)
            written += size_t(count);
        else if (count == 0 || (errno != EINTR && !(errno == EAGAIN && wait_for_reader())))
            break;
    }
    if (written == bytes.size())
        return true;
    if (begin >= 0 && ftruncate(descriptor_, begin) == 0)
        lseek(descriptor_, begin, SEEK_SET);
    return false;
}
} // namespace mapi::functions
