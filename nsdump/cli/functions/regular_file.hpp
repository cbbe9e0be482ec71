// SPDX-License-Identifier: MIT
// cli: a path that another user may have chosen -> a regular file, opened; nothing else is touched.
#pragma once

#include <string>
#include <string_view>

#include <sys/stat.h>

namespace nsdump
{
class RegularFile
{
public:
    // Never waits, as for the writer of a FIFO.
    explicit RegularFile(const std::string &path);
    ~RegularFile();
    RegularFile(const RegularFile &) = delete;
    RegularFile &operator=(const RegularFile &) = delete;

    bool is_open() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }
    int number() const { return number_; } // errno, if it is not open; 0: not a regular file
    const struct stat &status() const { return status_; }
    // As long as this object lives; empty if it cannot be mapped.
    std::string_view bytes();

private:
    void *mapped_ = nullptr;
    int descriptor_ = -1, number_ = 0;
    struct stat status_ = {};
};
} // namespace nsdump
