// SPDX-License-Identifier: MIT
// decode: file or memory -> bytes at an offset.
#include "decode/source/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "common/file_error/file_error.h"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
class FileBytes final : public ByteSource
{
public:
    explicit FileBytes(const std::string &path)
        : name_(path == "-" ? "standard input" : path),
          fd_(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                          : open(path.c_str(), O_RDONLY | O_CLOEXEC))
    {
        if (fd_ < 0)
            throw TraceError(fmt::format("{}: cannot open: {}", name_, nslice_read_error(errno)));
        struct stat status;
        if (fstat(fd_, &status) != 0) {
            const int error = errno;
            close(fd_);
            throw TraceError(
                fmt::format("{}: cannot determine its size: {}", name_, nslice_read_error(error)));
        }
        if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode)) {
            close(fd_);
            if (S_ISDIR(status.st_mode))
                throw TraceError(name_ + ": is a directory (specify a file in it)");
            throw TraceError(
                fmt::format("{}: not seekable (read it from standard input, e.g. `nsdump stats - "
                            "<{}`)",
                            name_, path));
        }
        size_bytes_ = uint64_t(status.st_size);
        if (path != "-")
            modified_ns_ =
                uint64_t(status.st_mtim.tv_sec) * 1'000'000'000 + uint64_t(status.st_mtim.tv_nsec);
        posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    ~FileBytes() override { close(fd_); }
    FileBytes(const FileBytes &) = delete;
    FileBytes &operator=(const FileBytes &) = delete;

    const std::string &name() const override { return name_; }
    uint64_t size_bytes() const override { return size_bytes_; }
    uint64_t modified_ns() const override { return modified_ns_; }
    int file() const override { return fd_; }

    size_t read_at(uint64_t offset, void *to, size_t bytes) override
    {
        size_t done = 0;
        while (done < bytes) {
            const ssize_t n =
                pread(fd_, static_cast<char *>(to) + done, bytes - done, off_t(offset + done));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                throw TraceError(fmt::format("{}: at byte {}: cannot read: {}", name_,
                                             offset + done, nslice_read_error(errno)));
            if (n == 0)
                break;
            done += size_t(n);
        }
        return done;
    }

private:
    std::string name_;
    int fd_ = -1;
    uint64_t size_bytes_ = 0;
    uint64_t modified_ns_ = 0;
};

class MemoryBytes final : public ByteSource
{
public:
    MemoryBytes(std::vector<std::byte> bytes, std::string name)
        : bytes_(std::move(bytes)), name_(std::move(name))
    {
    }

    const std::string &name() const override { return name_; }
    uint64_t size_bytes() const override { return bytes_.size(); }

    size_t read_at(uint64_t offset, void *to, size_t bytes) override
    {
        if (bytes == 0 || offset >= bytes_.size()) // `to` is null for an empty payload
            return 0;
        const size_t n = std::min<uint64_t>(bytes, bytes_.size() - offset);
        std::memcpy(to, bytes_.data() + offset, n);
        return n;
    }

private:
    std::vector<std::byte> bytes_;
    std::string name_;
};
} // namespace

std::unique_ptr<ByteSource> open_file(const std::string &path)
{
    return std::make_unique<FileBytes>(path);
}

std::unique_ptr<ByteSource> bytes_in_memory(std::vector<std::byte> bytes, std::string name)
{
    return std::make_unique<MemoryBytes>(std::move(bytes), std::move(name));
}
} // namespace nsdump
