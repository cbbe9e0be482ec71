// SPDX-License-Identifier: MIT
// Whether a file system and kernel offer what LookAhead takes; without it, it has no addresses.
#pragma once

#include <filesystem>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "support/catch.hpp"

namespace test_support
{
// The file must have been written or read just now.
inline bool can_look_ahead_in(const std::filesystem::path &path)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    void *const mapping = mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0);
    char byte = 0;
    const iovec part = {&byte, 1};
    const bool can = preadv2(file, &part, 1, 0, RWF_NOWAIT) == 1 && mapping != MAP_FAILED &&
                     madvise(mapping, 1, MADV_POPULATE_READ) == 0;
    if (!can)
        WARN("nothing is tested: this kernel or the file system of " << path << " lacks it");
    if (mapping != MAP_FAILED)
        munmap(mapping, 1);
    close(file);
    return can;
}
} // namespace test_support
