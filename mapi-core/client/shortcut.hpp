// SPDX-License-Identifier: MIT
// Shortcut: the memory of a function's result or packets -> a reader, without a call of the flow.
#pragma once

#include <atomic>
#include <cstdint>

#include <mapi/results.h>

#include "client/reader_clock.hpp"
#include "ring/record_source.hpp"

namespace mapi::client
{
// A result that is the difference of two words.
struct WordPlace {
    const std::atomic<uint64_t> *word = nullptr; // null: the result is not that simple
    // the part of the word that does not belong to the flow
    const std::atomic<uint64_t> *base = nullptr;
    std::atomic<uint64_t> *lent = nullptr; // what results->res points to
    mapi_results_t *results = nullptr;
    const std::atomic<uint32_t> *status =
        nullptr; // FLOW_ACTIVE while the result is kept up to date
};

// Empty at first; filled in by each reader that has called the flow.  Any thread.  It does not
// notice that mapid was killed, which does not change the flow's status: whenever the reader's
// clock has to be refreshed, the flow is called instead.
class Shortcut
{
public:
    // Null: the flow must be called.
    mapi_results_t *read_word(const ReaderClock &clock) const
    {
        // pairs with lead_to(): the other members are set
        const std::atomic<uint64_t> *const word = word_.load(std::memory_order_acquire);
        uint64_t now_us;
        if (!word || !clock.try_now(now_us)) [[unlikely]]
            return nullptr;
        if (status_.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) != FLOW_ACTIVE)
            [[unlikely]]
            return nullptr;
        // Threads that read the same function at the same time get whole words.  The base is read
        // first, since the word only grows.
        const uint64_t base =
            base_.load(std::memory_order_relaxed)->load(std::memory_order_acquire);
        lent_.load(std::memory_order_relaxed)
            ->store(word->load(std::memory_order_acquire) - base, std::memory_order_relaxed);
        mapi_results_t *const results = results_.load(std::memory_order_relaxed);
        if (!results)
            __builtin_unreachable(); // saves the caller a check
        std::atomic_ref(results->ts).store(now_us, std::memory_order_relaxed);
        return results;
    }
    // The same for packets; does not wait.
    const mapipkt *next_packet() const
    {
        ring::RecordSource *const packets = packets_.load(std::memory_order_acquire);
        return packets ? reinterpret_cast<const mapipkt *>(packets->try_next().data) : nullptr;
    }

    void lead_to(const WordPlace &place)
    {
        base_.store(place.base, std::memory_order_relaxed);
        lent_.store(place.lent, std::memory_order_relaxed);
        results_.store(place.results, std::memory_order_relaxed);
        status_.store(place.status, std::memory_order_relaxed);
        word_.store(place.word);
    }
    void lead_to(ring::RecordSource &packets) { packets_.store(&packets); }
    void close()
    {
        word_.store(nullptr);
        packets_.store(nullptr);
    }

private:
    std::atomic<const std::atomic<uint64_t> *> word_ = nullptr;
    std::atomic<const std::atomic<uint64_t> *> base_ = nullptr;
    std::atomic<std::atomic<uint64_t> *> lent_ = nullptr;
    std::atomic<mapi_results_t *> results_ = nullptr;
    std::atomic<const std::atomic<uint32_t> *> status_ = nullptr;
    std::atomic<ring::RecordSource *> packets_ = nullptr;
};
} // namespace mapi::client
