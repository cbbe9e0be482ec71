// SPDX-License-Identifier: MIT
// Result queue: results that come one after another, from the device's thread to one reader.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include <mapi/function.h>

namespace mapi::functions
{
// For a few results a batch at most: each hand-over takes a lock.
template <class Entry> class ResultQueue
{
public:
    static constexpr size_t kRoom = 65536;

    // writer_waits: when the queue is full; otherwise what comes then is dropped and counted.
    explicit ResultQueue(bool writer_waits, size_t room = kRoom) : writer_waits_(writer_waits), room_(room) {}

    // Device's thread.  Takes all of them out of `entries`.
    void push(std::vector<Entry> &entries)
    {
        if (entries.empty())
            return;
        std::unique_lock lock(mutex_);
        for (const Entry &entry : entries) {
            if (writer_waits_ && entries_.size() >= room_) {
                changed_.notify_all(); // the reader must be able to see what fills the queue
                changed_.wait(lock, [&] { return entries_.size() < room_ || cancelled_; });
            }
            if (entries_.size() < room_ && !cancelled_)
                entries_.push_back(entry);
            else
                count_dropped(1);
        }
        entries.clear();
        changed_.notify_all();
    }

    // Reader's thread: waits for one; false: none will come any more.
    bool next(Entry &entry)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !entries_.empty() || ended_ || cancelled_; });
        if (entries_.empty())
            return false;
        entry = entries_.front();
        entries_.pop_front();
        if (writer_waits_ && entries_.size() == room_ - 1)
            changed_.notify_all();
        return true;
    }

    // Device's thread: no more will come but these few, for which there always is room.
    void end(const std::vector<Entry> &last = {})
    {
        const std::lock_guard lock(mutex_);
        entries_.insert(entries_.end(), last.begin(), last.end());
        ended_ = true;
        changed_.notify_all();
    }
    void count_dropped(uint64_t entries) { dropped_.fetch_add(entries, std::memory_order_relaxed); }

    // Any thread.
    void cancel()
    {
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
        changed_.notify_all();
    }
    uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

private:
    const bool writer_waits_;
    const size_t room_;
    std::atomic<uint64_t> dropped_ = 0;
    std::mutex mutex_; // all below
    std::condition_variable changed_;
    std::deque<Entry> entries_;
    bool ended_ = false;
    bool cancelled_ = false;
};

// Members of a function table whose object has a queue() and end(), for what its results' readers call.
template <class Object> int next_queued(void *instance, void *result)
{
    auto &queue = static_cast<Object *>(instance)->queue();
    return queue.next(*static_cast<typename Object::Entry *>(result));
}

template <class Object> void end_queued(void *instance)
{
    static_cast<Object *>(instance)->end();
}

template <class Object> void cancel_queued(void *instance)
{
    static_cast<Object *>(instance)->queue().cancel();
}

template <class Object> void queue_drops(const void *instance, mapi_function_drops *drops)
{
    const auto &object = *static_cast<const Object *>(instance);
    drops->buffer_full = object.queue().dropped();
    if constexpr (requires { object.time_jumps(); })
        drops->time_jumps = object.time_jumps();
}
} // namespace mapi::functions
