// SPDX-License-Identifier: MIT
// Descriptor: an owned file descriptor.
#pragma once

#include <utility>

#include <unistd.h>

namespace mapi::ipc
{
class Descriptor
{
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor &&other) noexcept : number_(other.release()) {}
    Descriptor &operator=(Descriptor &&other) noexcept
    {
        reset();
        number_ = other.release();
        return *this;
    }

    int number() const { return number_; }
    bool is_open() const { return number_ >= 0; }
    int release() { return std::exchange(number_, -1); }
    void reset()
    {
        if (number_ >= 0)
            close(std::exchange(number_, -1));
    }

private:
    int number_ = -1;
};
} // namespace mapi::ipc
