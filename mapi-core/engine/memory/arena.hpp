// SPDX-License-Identifier: MIT
// Arena: memory for results and rings of a client's flows: on the heap, or in pages shared with a
// client in another process.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace mapi::engine
{
class Arena
{
public:
    // Which side writes to the memory; data written by clients is never trusted.
    enum class Side { kEngine, kClient };

    virtual ~Arena() = default;
    // Any thread.  Zeroed and aligned to a cache line; null if no memory is left.
    virtual void *allocate(Side side, size_t bytes) = 0;
    virtual void release(Side side, void *memory, size_t bytes) = 0;
    // Whether results must be copied there for the client after each burst, since the client can
    // access no other memory.
    virtual bool is_shared() const = 0;
};

class HeapArena final : public Arena
{
public:
    void *allocate(Side side, size_t bytes) override;
    void release(Side side, void *memory, size_t bytes) override;
    bool is_shared() const override { return false; }
};

// A block of an arena, released on destruction.
class ArenaBlock
{
public:
    ArenaBlock() = default;
    // Throws std::bad_alloc.
    ArenaBlock(std::shared_ptr<Arena> arena, Arena::Side side, size_t bytes)
        : arena_(std::move(arena)), side_(side), bytes_(bytes),
          memory_(arena_->allocate(side, bytes))
    {
        if (!memory_)
            throw std::bad_alloc();
    }
    ~ArenaBlock()
    {
        if (memory_)
            arena_->release(side_, memory_, bytes_);
    }
    ArenaBlock(ArenaBlock &&other) noexcept { swap(other); }
    ArenaBlock &operator=(ArenaBlock &&other) noexcept
    {
        ArenaBlock(std::move(other)).swap(*this);
        return *this;
    }
    void *memory() const { return memory_; }

private:
    void swap(ArenaBlock &other)
    {
        std::swap(arena_, other.arena_);
        std::swap(side_, other.side_);
        std::swap(bytes_, other.bytes_);
        std::swap(memory_, other.memory_);
    }

    std::shared_ptr<Arena> arena_;
    Arena::Side side_ = Arena::Side::kEngine;
    size_t bytes_ = 0;
    void *memory_ = nullptr;
};
} // namespace mapi::engine
