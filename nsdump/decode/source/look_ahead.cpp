// SPDX-License-Identifier: MIT
// decode: what will be read next from a file -> an address for prefetch instructions.
#include "decode/source/look_ahead.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

namespace nsdump
{
namespace
{
// Unmapping a window interrupts all CPUs on which the program runs.  With windows of 4 MiB, two
// threads gain little; of more, resident memory grows.
constexpr size_t kWindowBytes = 16 << 20, kMostBytes = kWindowBytes / 2;

uint64_t page_bytes()
{
    static const auto kBytes = uint64_t(sysconf(_SC_PAGESIZE));
    return kBytes;
}

// Reads a byte of a file if that need not wait for the disk; otherwise errno has the reason.
bool is_in_memory(int file, uint64_t offset)
{
    char byte = 0;
    const iovec part = {&byte, 1};
    return preadv2(file, &part, 1, off_t(offset), RWF_NOWAIT) == 1;
}
} // namespace

LookAhead::LookAhead(const ByteSource &source)
    : file_(source.file()), size_bytes_(source.size_bytes())
{
}

LookAhead::~LookAhead()
{
    unmap();
}

uintptr_t LookAhead::address_of(uint64_t offset, uint64_t bytes)
{
    if (file_ < 0 || bytes == 0 || bytes > kMostBytes || offset >= size_bytes_)
        return 0;
    const uint64_t begin = offset / page_bytes() * page_bytes(),
                   end = std::min(size_bytes_, offset + bytes);
    errno = 0;
    if (is_in_memory(file_, end - 1))
        if (void *const mapping = map(begin, size_t(end - begin)))
            return reinterpret_cast<uintptr_t>(mapping) + (offset - begin);
    if (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS || errno == ENODEV)
        file_ = -1; // not by this kernel, or not of this file: do not try again
    return 0;
}

// Null if that is not possible.
void *LookAhead::map(uint64_t begin, size_t bytes)
{
    if (!window_ || begin < begin_ || begin + bytes > begin_ + kWindowBytes) {
        unmap();
        void *const window =
            mmap(nullptr, kWindowBytes, PROT_READ, MAP_SHARED, file_, off_t(begin));
        if (window == MAP_FAILED)
            return nullptr;
        window_ = static_cast<std::byte *>(window);
        begin_ = begin;
    }
    // A prefetch does nothing for a page that is not in the page table.
    void *const mapping = window_ + (begin - begin_);
    return madvise(mapping, bytes, MADV_POPULATE_READ) == 0 ? mapping : nullptr;
}

void LookAhead::unmap()
{
    if (window_)
        munmap(window_, kWindowBytes);
    window_ = nullptr;
}
} // namespace nsdump
