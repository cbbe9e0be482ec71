// SPDX-License-Identifier: MIT
// Published result: a function's result after a batch -> any number of readers, without a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

namespace mapi::engine
{
// One writer, the device's thread.  A result of one word needs no protocol, nor one in place; others are guarded by a sequence number.
class Published
{
public:
    explicit Published(size_t bytes) : bytes_(bytes), words_(new std::atomic<uint64_t>[word_count()]())
    {
    }

    size_t bytes() const { return bytes_; }

    // Before anybody reads: memory that the function itself writes to, word by word, atomically.  publish() is not called then.
    uint64_t *allocate_in_place(size_t bytes)
    {
        static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t) && std::atomic<uint64_t>::is_always_lock_free);
        bytes_ = bytes;
        words_.reset(new std::atomic<uint64_t>[word_count()]());
        return reinterpret_cast<uint64_t *>(words_.get());
    }

    void publish(const uint64_t *result)
    {
        if (bytes_ <= sizeof(uint64_t)) [[likely]] {
            words_[0].store(result[0], std::memory_order_release);
            return;
        }
        const uint32_t sequence = sequence_.load(std::memory_order_relaxed);
        sequence_.store(sequence + 1, std::memory_order_relaxed);
        // Release, so that a reader that sees a new word also sees the odd number before it.
        for (size_t i = 0; i < word_count(); ++i)
            words_[i].store(result[i], std::memory_order_release);
        sequence_.store(sequence + 2, std::memory_order_release);
    }

    uint64_t first_word() const { return words_[0].load(std::memory_order_acquire); }

    // `copy` has room for the bytes rounded up to whole words.
    void read(uint64_t *copy) const
    {
        if (bytes_ <= sizeof(uint64_t)) {
            copy[0] = first_word();
            return;
        }
        uint32_t before;
        do {
            before = sequence_.load(std::memory_order_acquire);
            for (size_t i = 0; i < word_count(); ++i)
                copy[i] = words_[i].load(std::memory_order_acquire);
        } while ((before & 1) || sequence_.load(std::memory_order_relaxed) != before);
    }

    static size_t words_for(size_t bytes) { return (bytes + 7) / 8; }

private:
    size_t word_count() const { return words_for(bytes_); }

    size_t bytes_;
    std::atomic<uint32_t> sequence_ = 0; // odd while words change
    std::unique_ptr<std::atomic<uint64_t>[]> words_;
};
} // namespace mapi::engine
