// SPDX-License-Identifier: MIT
// Published result: a function's result after a burst -> any number of readers, without a lock,
// possibly in other processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace mapi::engine
{
// One writer, the device's thread.  A result of one word, and one in place that is not copied, need
// no protocol; others are guarded by a sequence number.  The memory is the sequence number, then
// the words; initially all zeros.
class Published
{
public:
    static size_t words_for(size_t bytes) { return (bytes + 7) / 8; }
    static size_t memory_bytes(size_t bytes) { return sizeof(uint64_t) * (1 + words_for(bytes)); }

    Published() = default;
    Published(void *memory, size_t bytes)
        : words_(static_cast<std::atomic<uint64_t> *>(memory)), bytes_(bytes)
    {
        static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t) &&
                      std::atomic<uint64_t>::is_always_lock_free);
    }

    size_t bytes() const { return bytes_; }
    // A result in place that is not copied is written by the function itself, word by word,
    // atomically, and publish() is not called.
    uint64_t *words() const { return reinterpret_cast<uint64_t *>(words_ + 1); }

    void publish(const uint64_t *result)
    {
        if (bytes_ <= sizeof(uint64_t)) [[likely]] {
            words_[1].store(result[0], std::memory_order_release);
            return;
        }
        const uint64_t sequence =
            words_[0].load(std::memory_order_relaxed); // odd while the words are being changed
        words_[0].store(sequence + 1, std::memory_order_relaxed);
        // Release: a reader that sees a new word also sees the odd number before it.
        for (size_t i = 1; i <= words_for(bytes_); ++i)
            words_[i].store(result[i - 1], std::memory_order_release);
        words_[0].store(sequence + 2, std::memory_order_release);
    }

    const std::atomic<uint64_t> *first() const { return words_ + 1; }
    uint64_t first_word() const { return words_[1].load(std::memory_order_acquire); }

    // `copy` has room for the bytes rounded up to whole words.
    void read(uint64_t *copy) const
    {
        for (unsigned tries = 1; !try_read(copy); ++tries)
            rest_after(tries);
    }
    // A writer that takes so long is preempted.
    static void rest_after(unsigned tries)
    {
        if (tries % kTriesAtOnce == 0)
            std::this_thread::sleep_for(kRest);
    }
    // False if the writer was changing the words; always false if it died while doing so.
    bool try_read(uint64_t *copy) const
    {
        if (bytes_ <= sizeof(uint64_t)) {
            copy[0] = first_word();
            return true;
        }
        const uint64_t before = words_[0].load(std::memory_order_acquire);
        for (size_t i = 1; i <= words_for(bytes_); ++i)
            copy[i - 1] = words_[i].load(std::memory_order_acquire);
        return !(before & 1) && words_[0].load(std::memory_order_relaxed) == before;
    }

private:
    static constexpr unsigned kTriesAtOnce = 256;
    static constexpr std::chrono::microseconds kRest{50};

    std::atomic<uint64_t> *words_ = nullptr;
    size_t bytes_ = 0;
};
} // namespace mapi::engine
