// SPDX-License-Identifier: MIT
// cli: text -> standard output or a file that is whole or not there.
#pragma once

#include <stdexcept>
#include <string>

namespace nsdump
{
class OutputError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// The reader of a pipe went away: nothing is wrong, there is only nobody left to write for.
class OutputClosed : public std::exception
{
};

class Output
{
public:
    // Empty or "-": standard output.  A regular file appears under its name only at finish().
    explicit Output(const std::string &path);
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

    std::string path_;
    std::string temporary_; // empty when written in place
    std::string text_;
    int fd_;
};
} // namespace nsdump
