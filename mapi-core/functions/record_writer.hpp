// SPDX-License-Identifier: MIT
// Record writer: records of one device thread -> a file, by a thread of its own, so that a disk does not hold packets up.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace mapi::functions
{
// The file always ends with a whole record: what a full disk or a broken pipe does not take is cut off, and counted.
class RecordWriter
{
public:
    // descriptor: open for writing, of a pipe with O_NONBLOCK; stays the caller's; the file becomes empty.  device_waits: for the disk; otherwise what finds no room is dropped.
    RecordWriter(int descriptor, bool device_waits);
    // Writes what is left.
    ~RecordWriter();
    RecordWriter(const RecordWriter &) = delete;
    RecordWriter &operator=(const RecordWriter &) = delete;

    // Device's thread.  What the file begins with, before its first record.
    void set_header(std::string header);
    // Device's thread.  Whole records, so many of them; taken out of `bytes`.
    void add(std::string &bytes, uint64_t records);
    // Device's thread: what has come is written at once from here on.
    void hurry();
    bool is_idle();
    // Device's thread: waits until all that came is in the file, or lost.
    void finish();
    // Any thread: the device waits no more.
    void cancel();
    uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

private:
    void run();
    bool write(const std::string &bytes);
    bool wait_for_reader();

    const int descriptor_;
    const bool device_waits_;
    std::atomic<uint64_t> lost_ = 0;

    std::mutex mutex_; // all below
    std::condition_variable changed_;
    std::string header_; // not in the file yet
    std::string waiting_;
    uint64_t waiting_records_ = 0;
    bool is_writing_ = false;
    bool is_cancelled_ = false;
    bool is_hurried_ = false;
    bool is_stopping_ = false;
    std::thread thread_; // last: it uses the others
};
} // namespace mapi::functions
