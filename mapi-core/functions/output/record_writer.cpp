// SPDX-License-Identifier: MIT
// Record writer: records of one device thread -> a file.
#include "functions/output/record_writer.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

namespace mapi::functions
{
namespace
{
constexpr size_t kRoomBytes = size_t(16) << 20;
constexpr size_t kWrittenBytes = size_t(1)
                                 << 20; // wait for at least this much while more is coming
constexpr auto kLongest = std::chrono::milliseconds(100); // then write less, too

// Threads started during its lifetime have all signals blocked, so that the program's own threads
// handle them.
class BlockedSignals
{
public:
    BlockedSignals()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals &) = delete;
    BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
    sigset_t before_;
};
} // namespace

const uint64_t RecordWriter::kMemoryBytes = 2 * kRoomBytes + kHandedBytes + kRecordBytesMax;

RecordWriter::RecordWriter(int descriptor, bool device_waits, std::function<void()> on_settled,
                           RecordBytes record_bytes)
    : RecordWriter(std::make_unique<FileSink>(descriptor, record_bytes), device_waits,
                   std::move(on_settled))
{
}

RecordWriter::RecordWriter(std::unique_ptr<RecordSink> sink, bool device_waits,
                           std::function<void()> on_settled)
    : sink_(std::move(sink)), device_waits_(device_waits), on_settled_(std::move(on_settled))
{
    const BlockedSignals blocked; // write() reports a broken pipe
    thread_ = std::thread([this] { run(); });
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
    changed_.notify_all();
}

void RecordWriter::add(std::string &bytes, uint64_t records)
{
    if (bytes.empty())
        return;
    std::unique_lock lock(mutex_);
    const auto has_room = [&] {
        return waiting_.empty() || waiting_.size() + bytes.size() <= kRoomBytes;
    };
    if (device_waits_)
        changed_.wait(lock, [&] { return has_room() || is_cancelled_; });
    if (has_room()) {
        take(bytes, records);
    } else {
        lost_.fetch_add(records, std::memory_order_relaxed);
        bytes.clear();
    }
}

void RecordWriter::take(std::string &bytes, uint64_t records)
{
    const size_t before = waiting_.size();
    if (waiting_.capacity() < waiting_.size() + bytes.size())
        waiting_.reserve(std::max(
            kRoomBytes,
            waiting_.size() + bytes.size())); // avoids doubling; pages are only allocated when used
    waiting_ += bytes;
    waiting_records_ += records;
    bytes.clear();
    if (before == 0 || (before < kWrittenBytes && waiting_.size() >= kWrittenBytes))
        changed_.notify_all();
}

void RecordWriter::finish(std::string &bytes, uint64_t records)
{
    const std::lock_guard lock(mutex_);
    take(bytes, records);
    is_finishing_ = true;
    changed_.notify_all();
}

bool RecordWriter::is_settled()
{
    const std::lock_guard lock(mutex_);
    return is_settled_;
}

void RecordWriter::cancel()
{
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    changed_.notify_all();
}

void RecordWriter::add_drops(mapi_function_drops *drops) const
{
    drops->not_written += lost_.load(std::memory_order_relaxed);
    if (drops->write_error == 0)
        drops->write_error = error_.load(std::memory_order_relaxed);
}

void RecordWriter::run()
{
    std::string records; // its memory is swapped back and forth
    std::unique_lock lock(mutex_);
    while (true) {
        if (!has_work() && is_finishing_ && !is_settled_)
            settle();
        changed_.wait(
            lock, [&] { return has_work() || is_stopping_ || (is_finishing_ && !is_settled_); });
        if (!has_work() && is_stopping_)
            return;
        changed_.wait_for(lock, kLongest, [&] {
            return is_stopping_ || is_finishing_ || waiting_.size() >= kWrittenBytes;
        });
        std::string header = std::exchange(header_, {});
        records.clear();
        std::swap(records, waiting_);
        const uint64_t count = std::exchange(waiting_records_, 0);
        changed_.notify_all();
        lock.unlock();
        lost_.fetch_add(write(header, records, count), std::memory_order_relaxed);
        lock.lock();
        if (!header.empty() && !is_stopping_ && !is_finishing_)
            header_ = header; // needed again for the next records
    }
}

void RecordWriter::settle()
{
    if (on_settled_)
        on_settled_();
    is_settled_ = true;
}

// Writes the header separately, so that the file is readable even if there is no room for its
// records; the header is empty afterwards.  Returns how many records were not written.
uint64_t RecordWriter::write(std::string &header, const std::string &records, uint64_t count)
{
    const RecordSink::IsGivenUp is_given_up = [this] {
        const std::lock_guard lock(mutex_);
        return is_cancelled_ || is_stopping_;
    };
    uint64_t written = 0;
    int error = header.empty() ? 0 : sink_->write(header, is_given_up);
    if (error == 0) {
        header.clear();
        error = sink_->write_records(records, is_given_up, written);
    }
    if (error == 0)
        return 0;
    error_.store(error, std::memory_order_relaxed);
    return count - written;
}
} // namespace mapi::functions
