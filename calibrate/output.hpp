// SPDX-License-Identifier: MIT
// output: text -> a file that is whole or not there.
#pragma once

#include <stdexcept>
#include <string>

namespace calibrate
{
class OutputError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// Opened before the measuring starts, so that a wrong path is told at once; appears under its name
// at finish().
class OutputFile
{
public:
    explicit OutputFile(const std::string &path); // empty: none
    ~OutputFile();
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    void finish(const std::string &text);

private:
    std::string path_;
    std::string temporary_; // empty when the path is a device or a pipe, which cannot be renamed to
    int fd_ = -1;
};

void print_to_stdout(const std::string &text);
} // namespace calibrate
