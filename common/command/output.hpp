// SPDX-License-Identifier: MIT
// output: text -> standard output or a file, which is complete or absent.
#pragma once

#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace command
{
class OutputError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// Invalid arguments that are detected only by examining files.
class UsageError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// The reader closed the pipe.  Not an error; the output is no longer needed.
class OutputClosed : public std::exception
{
};

// Ctrl-C before there was anything to finish.
class Interrupted : public std::exception
{
};

class Output
{
public:
    // Empty or "-": standard output.  A regular file appears under its name only at finish(), with
    // the mode of the file that it replaces.  Throws UsageError if it is one of `inputs` ("-":
    // standard input).  Waits for a named pipe's reader; throws Interrupted on Ctrl-C.
    explicit Output(const std::string &path, const std::vector<std::string> &inputs = {});
    ~Output();
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;

    // Whether it appears only at finish(), perhaps in place of an older file.
    bool is_file() const { return !temporary_.empty(); }
    const std::string &path() const { return path_; } // as given; empty: standard output
    // Append complete lines only, so that an interrupted output ends with a complete line.
    std::string &text() { return text_; }
    void flush_when_full()
    {
        if (text_.size() >= kFullBytes)
            flush();
    }
    void flush();
    void finish();

private:
    static constexpr size_t kFullBytes = 1 << 16;

    std::string path_;      // as given
    std::string target_;    // with links resolved
    std::string temporary_; // empty if written in place
    std::string text_;
    int fd_ = STDOUT_FILENO;
};

// To be called before the work begins.  Throws UsageError if an output is the same file as the
// input, another output or standard output, and OutputError if it cannot be written.  Ignores
// empty names and "-".
void check_outputs(const std::string &input, const std::vector<std::string> &outputs);

// Throws OutputError with the cause from errno.
[[noreturn]] void throw_cannot_write(const std::string &path);

// A pipe closed by its reader is not an error.
void write_whole(const std::string &path, const std::string &text);
} // namespace command
