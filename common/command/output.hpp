// SPDX-License-Identifier: MIT
// output: text -> standard output or a file that is whole or not there.
#pragma once

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

// Arguments that only a look at the files shows to be wrong.
class UsageError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// The reader of a pipe went away: nothing is wrong, there is only nobody left to write for.
class OutputClosed : public std::exception
{
};

// Ctrl-C while there was nothing to end in an orderly way yet.
class Interrupted : public std::exception
{
};

class Output
{
public:
    // Empty or "-": standard output.  A regular file appears under its name only at finish(), with the mode of the one
    // that it replaces.  UsageError when it is one of the files that are being read.  Waits for a named pipe's reader;
    // Interrupted when a Ctrl-C comes first.
    explicit Output(const std::string &path, const std::vector<std::string> &inputs = {});
    ~Output();
    Output(const Output &) = delete;
    Output &operator=(const Output &) = delete;

    // Append here; whole lines only, so that an interrupted output ends at a line.
    std::string &text() { return text_; }
    void flush_when_full()
    {
        if (text_.size() >= kFullBytes)
            flush();
    }
    void flush();
    void finish();

private:
    static constexpr std::size_t kFullBytes = 1 << 16;

    std::string path_;      // as given
    std::string target_;    // behind links
    std::string temporary_; // empty when written in place
    std::string text_;
    int fd_;
};

// For the time before the work begins.  Throws UsageError when an output is the input, another output or the file behind
// standard output, and OutputError when it could not be written.  Empty names and "-" are none.
void check_outputs(const std::string &input, const std::vector<std::string> &outputs);

// A reader that closed the pipe is no error.
void write_whole(const std::string &path, const std::string &text);
} // namespace command
