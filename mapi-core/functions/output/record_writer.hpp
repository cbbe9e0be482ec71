// SPDX-License-Identifier: MIT
// Record writer: records of one device thread -> a file or another sink, through a thread of its
// own, so that a disk does not delay packets.
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
// A file always ends with a complete record: a record that a full disk or a broken pipe accepts
// only in part is removed and counted.
class RecordWriter
{
public:
    // Longer records must not be passed, except where they are counted in addition.
    static constexpr size_t kRecordBytesMax = size_t(4) << 20;
    // Records are passed in pieces not much longer than this.
    static constexpr size_t kHandedBytes = size_t(1) << 20;
    // Upper bound of its memory: waiting records, as many being written, and those that its user
    // has not yet passed on.
    static const uint64_t kMemoryBytes;

    // descriptor: open for writing, a pipe with O_NONBLOCK; remains the caller's; the file is
    // truncated.  device_waits: the device waits for the disk; otherwise records without room are
    // dropped.  on_settled: called on the writer's thread after finish(), once everything is in the
    // file or lost.  record_bytes: as in FileSink.
    RecordWriter(int descriptor, bool device_waits, std::function<void()> on_settled = nullptr,
                 RecordBytes record_bytes = nullptr);
    // The same with a sink other than a file.
    RecordWriter(std::unique_ptr<RecordSink> sink, bool device_waits,
                 std::function<void()> on_settled = nullptr);
    // Writes the remaining records.
    ~RecordWriter();
    RecordWriter(const RecordWriter &) = delete;
    RecordWriter &operator=(const RecordWriter &) = delete;

    // Device's thread.  The start of the file, before its first record.
    void set_header(std::string header);
    // Device's thread.  Takes that many complete records out of `bytes`.
    void add(std::string &bytes, uint64_t records);
    // Called by the last user of the function: only these few records will follow, for which there
    // is always room.  Does not block.
    void finish(std::string &bytes, uint64_t records);
    // Any thread, after finish(): whether everything is in the file or lost.
    bool is_settled();
    // Any thread: the device stops waiting, and the writer soon gives up.
    void cancel();
    void add_drops(mapi_function_drops *drops) const;

private:
    void run();
    uint64_t write(std::string &header, const std::string &records, uint64_t count);
    // Requires mutex_.
    bool has_work() const { return !waiting_.empty() || !header_.empty(); }
    void take(std::string &bytes, uint64_t records);
    void settle();

    const std::unique_ptr<RecordSink> sink_;
    const bool device_waits_;
    const std::function<void()> on_settled_;
    std::atomic<uint64_t> lost_ = 0;
    std::atomic<int> error_ = 0;

    std::mutex mutex_; // protects all members below
    std::condition_variable changed_;
    std::string header_; // not yet in the file
    std::string waiting_;
    uint64_t waiting_records_ = 0;
    bool is_cancelled_ = false;
    bool is_finishing_ = false;
    bool is_settled_ = false;
    bool is_stopping_ = false;
    std::thread thread_; // last: it uses the other members
};

// Members of a function table whose object has end() and writer().
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
