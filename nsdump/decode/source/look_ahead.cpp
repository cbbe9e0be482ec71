// SPDX-License-Identifier: MIT
// decode: what will be read next from a file -> an address for prefetch instructions.
#include "decode/source/look_ahead.hpp"

#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

namespace nsdump
{
namespace
{
uint64_t page_bytes()
{
    static const auto kBytes = uint64_t(sysconf(_SC_PAGESIZE));
    return kBytes;
}

// Whether the last page of a mapping is in the page cache; then those before it usually are, since
// the kernel reads ahead.  Asking for each page would take as long as the prefetch saves.
bool is_end_in_memory(void *mapping, size_t bytes)
{
    const size_t last = (bytes - 1) / page_bytes() * page_bytes();
    unsigned char page = 0;
    return mincore(static_cast<std::byte *>(mapping) + last, 1, &page) == 0 && (page & 1) != 0;
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
    unmap();
    if (file_ < 0 || offset >= size_bytes_)
        return 0;
    const uint64_t begin = offset / page_bytes() * page_bytes(),
                   end = std::min(size_bytes_, offset + bytes);
    mapped_bytes_ = size_t(end - begin);
    void *const mapping = mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, file_, off_t(begin));
    if (mapping == MAP_FAILED)
        return 0;
    mapping_ = mapping;
    // A prefetch does nothing for a page that is not in the page table.
    if (!is_end_in_memory(mapping_, mapped_bytes_) ||
        madvise(mapping_, mapped_bytes_, MADV_POPULATE_READ) != 0)
        unmap();
    return mapping_ ? reinterpret_cast<uintptr_t>(mapping_) + (offset - begin) : 0;
}

void LookAhead::unmap()
{
    if (mapping_)
        munmap(mapping_, mapped_bytes_);
    mapping_ = nullptr;
}
} // namespace nsdump
