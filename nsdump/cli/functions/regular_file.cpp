// SPDX-License-Identifier: MIT
// cli: a path that another user may have chosen -> a regular file, opened; nothing else is touched.
#include "cli/functions/regular_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace nsdump
{
// Devices may do something when they are opened; the path may be another file by then.
RegularFile::RegularFile(const std::string &path)
{
    if (stat(path.c_str(), &status_) != 0) {
        number_ = errno;
        return;
    }
    if (!S_ISREG(status_.st_mode))
        return;
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor_ < 0) {
        number_ = errno;
    } else if (fstat(descriptor_, &status_) != 0 || !S_ISREG(status_.st_mode)) {
        close(descriptor_);
        descriptor_ = -1;
    }
}

std::string_view RegularFile::bytes()
{
    const auto bytes = size_t(status_.st_size);
    if (!mapped_ && is_open() && bytes > 0) {
        void *const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor_, 0);
        mapped_ = mapped == MAP_FAILED ? nullptr : mapped;
    }
    return mapped_ ? std::string_view(static_cast<const char *>(mapped_), bytes)
                   : std::string_view();
}

RegularFile::~RegularFile()
{
    if (mapped_)
        munmap(mapped_, size_t(status_.st_size));
    if (descriptor_ >= 0)
        close(descriptor_);
}
} // namespace nsdump
