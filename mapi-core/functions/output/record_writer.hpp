// SPDX-License-Identifier: MIT
// Record writer: records of one device thread -> a file or another sink, by a thread of its own, so that a disk does not hold packets up.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <mapi/function.h>

#include "functions/output/file_sink.hpp"

namespace mapi::functions
{
// A file always ends with a whole record: what a full disk or a broken pipe does not take is cut off, and counted.
class RecordWriter
{
public:
    // Longer ones are not to be given, but where they are counted besides.
    static constexpr size_t kRecordBytesMax = size_t(4) << 20;
    // Records are given to it in pieces not much longer than this.
    static constexpr size_t kHandedBytes = size_t(1) << 20;
    // What it could hold: records that wait, as many that are being written, and those that its user has not given to it yet.
    static const uint64_t kMemoryBytes;

    // descriptor: open for writing, of a pipe with O_NONBLOCK; stays the caller's; the file becomes empty.  device_waits: for the disk; otherwise
    // what finds no room is dropped.  on_settled: on the writer's thread, once finish() was called and all is in the file, or lost.
    // record_bytes: as FileSink's.
    RecordWriter(int descriptor, bool device_waits, std::function<void()> on_settled = nullptr, RecordBytes record_bytes = nullptr);
    // The same, with another sink than a file.
    RecordWriter(std::unique_ptr<RecordSink> sink, bool device_waits, std::function<void()> on_settled = nullptr);
    // Writes what is left.
    ~RecordWriter();
    RecordWriter(const RecordWriter &) = delete;
    RecordWriter &operator=(const RecordWriter &) = delete;

    // Device's thread.  What the file begins with, before its first record.
    void set_header(std::string header);
    // Device's thread.  Whole records, so many of them; taken out of `bytes`.
    void add(std::string &bytes, uint64_t records);
    // Who uses the function last: no more will come but these few, for which there always is room.  Does not wait.
    void finish(std::string &bytes, uint64_t records);
    // Any thread, after finish(): all of it is in the file, or lost.
    bool is_settled();
    // Any thread: the device waits no more, and the writer not long.
    void cancel();
    void add_drops(mapi_function_drops *drops) const;

private:
    void run();
    uint64_t write(std::string &header, const std::string &records, uint64_t count);
    // Under mutex_.
    bool has_work() const { return !waiting_.empty() || !header_.empty(); }
    void take(std::string &bytes, uint64_t records);
    void settle();

    const std::unique_ptr<RecordSink> sink_;
    const bool device_waits_;
    const std::function<void()> on_settled_;
    std::atomic<uint64_t> lost_ = 0;
    std::atomic<int> error_ = 0;

    std::mutex mutex_; // all below
    std::condition_variable changed_;
    std::string header_; // not in the file yet
    std::string waiting_;
    uint64_t waiting_records_ = 0;
    bool is_cancelled_ = false;
    bool is_finishing_ = false;
    bool is_settled_ = false;
    bool is_stopping_ = false;
    std::thread thread_; // last: it uses the others
};

// Members of a function table whose object has end() and a writer().
template <class Object> void end_file(void *instance)
{
    static_cast<Object *>(instance)->end();
}

template <class Object> int is_file_settled(void *instance)
{
    return static_cast<Object *>(instance)->writer().is_settled();
}

template <class Object> void cancel_file(void *instance)
{
    static_cast<Object *>(instance)->writer().cancel();
}
} // namespace mapi::functions
