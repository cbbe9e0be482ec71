// SPDX-License-Identifier: MIT
// decode: what will be read next from a file -> an address for prefetch instructions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/source/bytes.hpp"

namespace nsdump
{
// Reading a file copies it from the page cache, which takes longer from memory than from the
// processor's caches.  While one chunk is analysed, its reader prefetches the next one through a
// mapping, and copies it afterwards.  Only prefetch instructions may use the mapping: a load raises
// SIGBUS if the file was truncated, and may return another value each time if it is being written.
// A prefetch has no result and raises nothing.
class LookAhead
{
public:
    // The source has to outlive it.
    explicit LookAhead(const ByteSource &source);
    ~LookAhead();
    LookAhead(const LookAhead &) = delete;
    LookAhead &operator=(const LookAhead &) = delete;

    // The address of the byte at an offset; 0 if it has none: the source is no file, the last byte
    // is not in the page cache (mapping it would wait for the disk), there are more than 8 MiB,
    // or the kernel does not offer what this takes, such as MADV_POPULATE_READ of Linux 5.14.  The
    // address is valid until the next call, for the given number of bytes up to the end of the
    // file.
    uintptr_t address_of(uint64_t offset, uint64_t bytes);

private:
    void *map(uint64_t begin, size_t bytes);
    void unmap();

    int file_; // -1: none, or it cannot be used
    uint64_t size_bytes_;
    std::byte *window_ = nullptr; // of the file, mapped
    uint64_t begin_ = 0;          // its offset
};
} // namespace nsdump
