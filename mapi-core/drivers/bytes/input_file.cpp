// SPDX-License-Identifier: MIT
// Input file: a file or pipe -> its bytes.
#include "drivers/bytes/input_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_error/file_error.h"
#include "drivers/capture_error.hpp"

namespace mapi::drivers
{
InputFile::InputFile(const std::string &path, int file) : path_(shown_path(path))
{
    if (file < 0 && path == "-")
        file = STDIN_FILENO;
    is_own_ = file < 0;
    fd_ = is_own_ ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : file;
    if (fd_ < 0)
        throw CaptureError(Damage::kFile, path_ + ": " + nslice_read_error(errno));
    const bool has_start = lseek(fd_, 0, SEEK_SET) == 0; // a pipe has none
    struct stat status = {};
    if (fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode)) {
        close_own();
        throw CaptureError(Damage::kFile, path_ + ": is a directory (specify a file in it)");
    }
    is_regular_ = S_ISREG(status.st_mode) && has_start;
    if (!is_regular_ && (stop_fd_ = eventfd(0, EFD_CLOEXEC)) < 0) {
        const int number = errno;
        close_own();
        throw CaptureError(Damage::kFile, path_ + ": " + nslice_read_error(number));
    }
    flock(fd_, LOCK_SH | LOCK_NB); // prevents functions from writing to the file meanwhile
    posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

void InputFile::close_own()
{
    if (is_own_)
        close(fd_);
}

InputFile::~InputFile()
{
    close_own();
    if (stop_fd_ >= 0)
        close(stop_fd_);
}

void InputFile::interrupt()
{
    const uint64_t one = 1;
    is_interrupted_ = true;
    if (stop_fd_ >= 0 && write(stop_fd_, &one, sizeof(one)) < 0)
        return; // the counter is full: it was interrupted before
}

void InputFile::wait_for_input() const
{
    pollfd files[] = {{fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    while (poll(files, 2, -1) < 0 && errno == EINTR) {
    }
}

size_t InputFile::read(uint8_t *to, size_t room)
{
    const size_t got = read_at(position_, to, room);
    position_ += got;
    return got;
}

// By offset, since other descriptors of the same open file, such as the client's, may move its
// position.
size_t InputFile::read_at(uint64_t offset, uint8_t *to, size_t room)
{
    ssize_t got;
    do {
        if (stop_fd_ >= 0)
            wait_for_input();
        if (is_interrupted_)
            throw CaptureError(Damage::kInput,
                               path_ + ": interrupted after offset " + std::to_string(offset));
        got = is_regular_ ? pread(fd_, to, room, off_t(offset)) : ::read(fd_, to, room);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        throw CaptureError(Damage::kInput, path_ + ": cannot read after offset " +
                                               std::to_string(offset) + ": " +
                                               nslice_read_error(errno));
    return size_t(got);
}

bool InputFile::rewind()
{
    if (!is_regular_ && lseek(fd_, 0, SEEK_SET) != 0)
        return false;
    position_ = 0;
    return true;
}

uint64_t InputFile::rest_bytes() const
{
    struct stat status = {};
    if (!is_regular_ || fstat(fd_, &status) != 0)
        return 0;
    const uint64_t size = uint64_t(status.st_size);
    return size > position_ ? size - position_ : 0;
}
} // namespace mapi::drivers
