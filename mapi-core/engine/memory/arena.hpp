// SPDX-License-Identifier: MIT
// Arena: where results and rings of a client's flows lie: on the heap, or in pages that a client in another process sees.
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
    // Who writes there: what clients write is never trusted.
    enum class Side { kEngine, kClient };

    virtual ~Arena() = default;
    // Any thread.  Zeroed and aligned to a cache line; null: there is no more.
    virtual void *allocate(Side side, size_t bytes) = 0;
    virtual void release(Side side, void *memory, size_t bytes) = 0;
    // Whether results are to be copied there for the client after each burst, since it sees nothing else.
    virtual bool is_shared() const = 0;
};

class HeapArena final : public Arena
{
public:
    void *allocate(Side side, size_t bytes) override;
    void release(Side side, void *memory, size_t bytes) override;
    bool is_shared() const override { return false; }
};

// A piece of an arena, given back when nobody has it any more.
class ArenaBlock
{
public:
    ArenaBlock() = default;
    // Throws std::bad_alloc.
    ArenaBlock(std::shared_ptr<Arena> arena, Arena::Side side, size_t bytes)
        : arena_(std::move(arena)), side_(side), bytes_(bytes), memory_(arena_->allocate(side, bytes))
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
