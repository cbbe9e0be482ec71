// SPDX-License-Identifier: MIT
// File buffer: a file -> contiguous bytes.
#include "drivers/file_buffer.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/capture_error.hpp"
#include "file_error/file_error.h"

namespace mapi::drivers
{
namespace
{
// Half of a small second-level cache, so that the packet path reads what read() has just written there.
constexpr size_t kBufferBytes = size_t(256) << 10;
constexpr size_t kPageBytes = PageBuffer::kPageBytes;
} // namespace

FileBuffer::FileBuffer(const std::string &path) : path_(path), storage_(kBufferBytes)
{
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0)
        throw CaptureError(Damage::kOpen, path + ": " + nslice_read_error(errno));
    struct stat status = {};
    if (fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(fd_);
        throw CaptureError(Damage::kOpen, path + ": is a folder, not a capture file");
    }
    is_regular_ = S_ISREG(status.st_mode);
    if (!is_regular_)
        stop_fd_ = eventfd(0, EFD_CLOEXEC);
    flock(fd_, LOCK_SH | LOCK_NB); // so that no function writes to it meanwhile
    posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
    cursor_ = end_ = storage_.data();
}

FileBuffer::~FileBuffer()
{
    close(fd_);
    if (stop_fd_ >= 0)
        close(stop_fd_);
}

void FileBuffer::interrupt()
{
    const uint64_t one = 1;
    if (stop_fd_ >= 0 && write(stop_fd_, &one, sizeof(one)) < 0)
        return; // it was interrupted before, very often
}

void FileBuffer::wait_for_input() const
{
    pollfd files[] = {{fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    while (poll(files, 2, -1) < 0 && errno == EINTR) {
    }
    if (files[1].revents != 0)
        throw CaptureError(Damage::kInput, path_ + ": interrupted after offset " + std::to_string(file_position_));
}

// Moves what is left to where the next bytes get the same place in a page as they have in the file: the kernel copies
// five times slower to an address a little above the source's, modulo a page (REP MOVSB on AMD Zen 3).
uint8_t *FileBuffer::place(size_t rest, size_t bytes)
{
    if (bytes + 2 * kPageBytes > storage_.size()) {
        PageBuffer larger(bytes + 2 * kPageBytes);
        memcpy(larger.data(), cursor_, rest);
        storage_.swap(larger);
        cursor_ = storage_.data();
    }
    uint8_t *const first = storage_.data() + rest;
    const size_t shift = (file_position_ - reinterpret_cast<uintptr_t>(first)) % kPageBytes;
    if (cursor_ != storage_.data() + shift)
        memmove(storage_.data() + shift, cursor_, rest);
    return storage_.data() + shift;
}

bool FileBuffer::fill(size_t bytes)
{
    const size_t rest = available();
    if (rest >= bytes)
        return true;
    // A length that the file cannot hold must not cost the memory for it.
    if (bytes > storage_.size() && is_regular_ && bytes > rest_bytes())
        return false;
    uint8_t *const base = place(rest, bytes);
    cursor_ = base;
    const size_t room = size_t(storage_.data() + storage_.size() - base);
    size_t filled = rest;
    while (filled < bytes) {
        if (stop_fd_ >= 0) {
            end_ = base + filled; // whole also where the wait is interrupted
            wait_for_input();
        }
        const ssize_t got = read(fd_, base + filled, room - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            end_ = base + filled;
            throw CaptureError(Damage::kInput, path_ + ": cannot read after offset " +
                                                   std::to_string(file_position_) + ": " +
                                                   nslice_read_error(errno));
        }
        if (got == 0)
            break;
        filled += size_t(got);
        file_position_ += uint64_t(got);
    }
    end_ = base + filled;
    return filled >= bytes;
}

bool FileBuffer::rewind()
{
    if (lseek(fd_, 0, SEEK_SET) != 0)
        return false;
    cursor_ = end_ = storage_.data();
    file_position_ = 0;
    return true;
}

uint64_t FileBuffer::rest_bytes() const
{
    struct stat status = {};
    if (!is_regular_ || fstat(fd_, &status) != 0)
        return available();
    const uint64_t size = uint64_t(status.st_size);
    return size > offset() ? size - offset() : 0;
}
} // namespace mapi::drivers
