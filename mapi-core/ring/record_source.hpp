// SPDX-License-Identifier: MIT
// Record source: a ring's reader for clients: one record or many, waiting or not, with a poll
// descriptor.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "ring/ring_reader.hpp"

namespace mapi::ring
{
// One reader at a time: the holder of lock().
class RecordSource
{
    // Used with the mutex: also takes the flag, which try_next() of another thread may hold for
    // some instructions.
    class Claim
    {
    public:
        explicit Claim(RecordSource &source) : source_(source)
        {
            while (source_.is_read_.exchange(true, std::memory_order_acquire))
                std::this_thread::yield();
        }
        ~Claim() { source_.is_read_.store(false, std::memory_order_release); }
        Claim(const Claim &) = delete;
        Claim &operator=(const Claim &) = delete;

    private:
        RecordSource &source_;
    };

public:
    RecordSource(const RingPages &pages, bool reader_returns)
        : reader_(pages), reader_returns_(reader_returns)
    {
    }

    // Readers that may wait queue at the mutex; one that finds a record immediately takes only the
    // flag.
    class Lock
    {
    public:
        explicit Lock(RecordSource &source) : lock_(source.mutex_), claim_(source) {}

    private:
        const std::lock_guard<std::mutex> lock_;
        const Claim claim_;
    };
    Lock lock() { return Lock(*this); }

    // Like next(), without the lock.  Returns no record if another thread reads, or if more is
    // needed than to take a record that was already seen.
    Record try_next()
    {
        if (is_read_.exchange(true, std::memory_order_acquire)) [[unlikely]]
            return {};
        const Record record = reader_.may_hold() ? reader_.next_seen() : Record{};
        is_read_.store(false, std::memory_order_release);
        return record;
    }

    // Waits, unless reader_returns.  Releases records returned before.
    Record next(const RingReader::IsAlive &is_alive);
    // Calls take(record) for all available records, at most `most`; waits for the first.  Returns
    // their number.
    template <class Take>
    int next_many(int most, int timeout_ms, const RingReader::IsAlive &is_alive, Take take)
    {
        reader_.release();
        int count = 0;
        if (most <= 0)
            return count;
        for (bool has_waited = timeout_ms == 0;;) {
            for (Record record; count < most && (record = reader_.next()).data; ++count)
                take(record);
            if (count > 0 || (has_waited && !may_have_come()))
                break;
            has_waited = has_waited || !reader_.wait(timeout_ms, is_alive);
        }
        return count;
    }
    // Never waits; records stay valid until give_back().
    Record take() { return reader_.next(); }
    void give_back() { reader_.give_back(); }
    // Sets the poll descriptor: from now on the writer makes it readable for records after a read
    // that found nothing, and at the end.
    void set_event(int event) { event_ = event; }
    int event() const { return event_; }
    // Whether records are left for the reader; with need_not_read, only if it has begun to read.
    // Under the lock, which no thread holds while waiting once the ring has ended.
    bool has_left(bool need_not_read) const
    {
        return reader_.has_left() && (!need_not_read || reader_.has_begun());
    }
    // Without the lock, for a program that asks after each record whether it was the last one:
    // waits until another record arrives or none will.  True if none will.  Does not wait if
    // records are left, none was taken yet, or another thread reads.
    bool wait_whether_last(int timeout_ms, const RingReader::IsAlive &is_alive);
    // From another thread: makes a waiting reader call is_alive() soon.
    void disturb() const { reader_.disturb(); }

private:
    // After a read that found nothing: requests a notification of the next record; true if one has
    // arrived meanwhile.
    bool may_have_come();

    std::mutex mutex_;
    std::atomic<bool> is_read_ = false; // held by the thread that may use all below
    RingReader reader_;
    const bool reader_returns_;
    int event_ = -1;
};
} // namespace mapi::ring
