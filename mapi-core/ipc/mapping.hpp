// SPDX-License-Identifier: MIT
// Mapping: a descriptor of shared memory -> its bytes, mapped and owned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <sys/mman.h>

namespace mapi::ipc
{
class Mapping
{
public:
    Mapping() = default;
    // On failure data() is null and errno is set.
    Mapping(int descriptor, size_t bytes, bool is_writable)
    {
        void *at = mmap(nullptr, bytes, is_writable ? PROT_READ | PROT_WRITE : PROT_READ,
                        MAP_SHARED, descriptor, 0);
        if (at == MAP_FAILED)
            return;
        data_ = static_cast<uint8_t *>(at);
        bytes_ = bytes;
    }
    ~Mapping()
    {
        if (data_)
            munmap(data_, bytes_);
    }
    Mapping(Mapping &&other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0))
    {
    }
    Mapping &operator=(Mapping &&other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    uint8_t *data() const { return data_; }
    size_t bytes() const { return bytes_; }
    // Null if not within the mapping.
    uint8_t *at(uint64_t offset, uint64_t bytes) const
    {
        return offset <= bytes_ && bytes <= bytes_ - offset ? data_ + offset : nullptr;
    }

private:
    uint8_t *data_ = nullptr;
    size_t bytes_ = 0;
};
} // namespace mapi::ipc
