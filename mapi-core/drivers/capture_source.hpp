// SPDX-License-Identifier: MIT
// Capture source: the location of one of a device's captures: a path, or a descriptor that is read
// instead.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mapi/driver.h>

#include "drivers/capture_error.hpp"

namespace mapi::drivers
{
class CaptureSource
{
public:
    // Duplicates the descriptor.  Throws CaptureError.
    explicit CaptureSource(const mapi_driver_setup &setup) : path_(setup.path)
    {
        if (setup.has_file && (file_ = fcntl(setup.file, F_DUPFD_CLOEXEC, 0)) < 0)
            throw CaptureError(Damage::kFile, path_ + ": too many open files in this process");
    }
    ~CaptureSource()
    {
        if (file_ >= 0)
            close(file_);
    }
    CaptureSource(CaptureSource &&other) noexcept
        : first_ns(other.first_ns), path_(std::move(other.path_)),
          file_(std::exchange(other.file_, -1))
    {
    }
    CaptureSource &operator=(CaptureSource &&other) noexcept
    {
        std::swap(first_ns, other.first_ns);
        std::swap(path_, other.path_);
        std::swap(file_, other.file_);
        return *this;
    }

    const std::string &path() const { return path_; }
    int descriptor() const { return file_; } // -1: open the path
    // Whether it is a pipe or similar, which can be read only once.
    bool is_stream() const
    {
        struct stat status = {};
        const int found = file_ >= 0     ? fstat(file_, &status)
                          : path_ == "-" ? fstat(STDIN_FILENO, &status)
                                         : stat(path_.c_str(), &status);
        return found == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    }

    uint64_t first_ns = 0; // of its first packet, once it is known

private:
    std::string path_;
    int file_ = -1;
};
} // namespace mapi::drivers
