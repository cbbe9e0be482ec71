// SPDX-License-Identifier: MIT
// Page buffer: page-aligned memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace mapi::drivers
{
// With page alignment, the place where a piece of the file ends, and a batch with it, depends only
// on the file and not on the heap's address.
class PageBuffer
{
public:
    static constexpr size_t kPageBytes = 4096;

    // Throws std::bad_alloc.
    explicit PageBuffer(size_t bytes)
        : size_((bytes + kPageBytes - 1) / kPageBytes * kPageBytes),
          memory_(static_cast<uint8_t *>(std::aligned_alloc(kPageBytes, size_)), std::free)
    {
        if (!memory_)
            throw std::bad_alloc();
    }
    uint8_t *data() { return memory_.get(); }
    size_t size() const { return size_; }
    void swap(PageBuffer &other)
    {
        std::swap(size_, other.size_);
        memory_.swap(other.memory_);
    }

private:
    size_t size_;
    std::unique_ptr<uint8_t, decltype(&std::free)> memory_;
};
} // namespace mapi::drivers
