// SPDX-License-Identifier: MIT
// Record source: a ring's reader as a client uses it: one record or many, waiting or not, or told by a descriptor.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "ring/ring_reader.hpp"

namespace mapi::ring
{
// One reader at a time: whoever has lock().
class RecordSource
{
    // With the mutex: the flag as well, which try_next() of another thread has for some instructions.
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
    RecordSource(const RingPages &pages, bool reader_returns) : reader_(pages), reader_returns_(reader_returns) {}

    // Readers that may wait stand in line at the mutex; one that finds a record at once takes the flag alone.
    class Lock
    {
    public:
        explicit Lock(RecordSource &source) : lock_(source.mutex_), claim_(source) {}

    private:
        const std::lock_guard<std::mutex> lock_;
        const Claim claim_;
    };
    Lock lock() { return Lock(*this); }

    // As next(), without the lock.  None: another thread reads, or there is more to do than to take a record that was seen before.
    Record try_next()
    {
        if (is_read_.exchange(true, std::memory_order_acquire)) [[unlikely]]
            return {};
        const Record record = reader_.may_hold() ? reader_.next_seen() : Record{};
        is_read_.store(false, std::memory_order_release);
        return record;
    }

    // Waits unless the ring's reader returns.  What was lent before goes back.
    Record next(const RingReader::IsAlive &is_alive);
    // take(record), at most `most` times, for all that are there; waits for the first.  Returns how many.
    template <class Take> int next_many(int most, int timeout_ms, const RingReader::IsAlive &is_alive, Take take)
    {
        reader_.release();
        int count = 0;
        for (bool has_waited = timeout_ms == 0; most > 0;) {
            for (Record record; count < most && (record = reader_.next()).data; ++count)
                take(record);
            if (count > 0 || (has_waited && !may_have_come()))
                break;
            has_waited = has_waited || !reader_.wait(timeout_ms, is_alive);
        }
        return count;
    }
    // Never waits; what it lends stays until give_back().
    Record take() { return reader_.next(); }
    void give_back() { reader_.give_back(); }
    // What the writer makes readable: from now on it tells of what comes after a read that found nothing, and of the end.
    void set_event(int event) { event_ = event; }
    int event() const { return event_; }
    // Whether records wait for whoever reads; once he has begun, where he need not read at all.  With the lock, which nobody keeps while
    // he waits when the ring has ended.
    bool has_left(bool need_not_read) const { return reader_.has_left() && (!need_not_read || reader_.has_begun()); }
    // Without the lock, for a program that asks after each record whether it was the last: waits until the next one is there, or none will
    // come any more.  True: none will.  It does not wait where records are left, none was taken yet, or another thread reads.
    bool wait_whether_last(int timeout_ms, const RingReader::IsAlive &is_alive);
    // Another thread: who waits is to ask is_alive() soon.
    void disturb() const { reader_.disturb(); }

private:
    // After a look that found nothing: asks to be told of the next record; true: there is one meanwhile.
    bool may_have_come();

    std::mutex mutex_;
    std::atomic<bool> is_read_ = false; // by whoever may use all below
    RingReader reader_;
    const bool reader_returns_;
    int event_ = -1;
};
} // namespace mapi::ring
