// SPDX-License-Identifier: MIT
// Alert file: lines -> the end of a file, or standard output.  A line is written as a whole.
#pragma once

#include <unistd.h>

#include <string>

namespace sids
{
class AlertFile
{
public:
    // Empty or "-": standard output.  Throws command::OutputError.
    explicit AlertFile(const std::string &path);
    ~AlertFile();
    AlertFile(const AlertFile &) = delete;
    AlertFile &operator=(const AlertFile &) = delete;

    // Throws command::OutputError, command::OutputClosed.
    void write(const std::string &lines) const;

private:
    std::string name_;
    int file_ = STDOUT_FILENO;
    bool is_own_ = false;
};
} // namespace sids
