// SPDX-License-Identifier: MIT
// live: a file in memory that a recorder writes -> its new chunks; gives back what was read.
#include "live/live_file.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nslice/file.h>

namespace nsdump
{
namespace
{
[[noreturn]] void fail(const char *what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

void read_all(int fd, uint64_t offset, std::byte *to, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t got = pread(fd, to, bytes, off_t(offset));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            fail("cannot read the live trace in memory");
        offset += uint64_t(got);
        to += got;
        bytes -= size_t(got);
    }
}
} // namespace

LiveFile::LiveFile() : fd_(memfd_create("nsdump-live", MFD_CLOEXEC))
{
    if (fd_ < 0)
        fail("cannot create a file in memory for the live trace");
}

LiveFile::~LiveFile()
{
    close(fd_);
}

// The recorder shares the descriptor's position.
uint64_t LiveFile::new_bytes() const
{
    const off_t end = lseek(fd_, 0, SEEK_CUR);
    return end > off_t(taken_bytes_) ? uint64_t(end) - taken_bytes_ : 0;
}

std::vector<std::byte> LiveFile::take()
{
    const uint64_t bytes = new_bytes();
    if (taken_bytes_ == 0 && bytes < sizeof(nslice_file_header))
        return {};
    if (bytes == 0)
        return {};
    std::vector<std::byte> part(header_.size() + bytes);
    std::copy(header_.begin(), header_.end(), part.begin());
    read_all(fd_, taken_bytes_, part.data() + header_.size(), bytes);
    if (header_.empty())
        header_.assign(part.begin(), part.begin() + sizeof(nslice_file_header));
    taken_bytes_ += bytes;
    // Later chunks keep their places, and the pages before them are free again.
    if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, off_t(taken_bytes_)) != 0)
        fail("cannot free the part of the live trace that was read");
    return part;
}
} // namespace nsdump
