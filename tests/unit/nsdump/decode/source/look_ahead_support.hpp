// SPDX-License-Identifier: MIT
// Whether a file system and kernel offer what LookAhead takes; without it, it has no addresses.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "support/catch.hpp"

namespace test_support
{
// 0 if the byte at the offset is in the page cache, EAGAIN if it is not; otherwise, that cannot be
// found out.
inline int memory_error(int file, size_t offset)
{
    char byte = 0;
    const iovec part = {&byte, 1};
    return preadv2(file, &part, 1, off_t(offset), RWF_NOWAIT) == 1 ? 0 : errno;
}

// The file must have been written or read just now.
inline bool can_look_ahead_in(const std::filesystem::path &path)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    void *const mapping = mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0);
    const bool can = memory_error(file, 0) == 0 && mapping != MAP_FAILED &&
                     madvise(mapping, 1, MADV_POPULATE_READ) == 0;
    if (!can)
        WARN("nothing is tested: this kernel or the file system of " << path << " lacks it");
    if (mapping != MAP_FAILED)
        munmap(mapping, 1);
    close(file);
    return can;
}
} // namespace test_support
