// SPDX-License-Identifier: MIT
// lines: output of several threads -> whole lines in a file or on standard output, or on standard
// error when packets go to standard output.
#pragma once

#include <cerrno>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/command/output.hpp"
#include "common/file_error/file_error.h"

namespace mapi_flow
{
// Any thread may call it.  After a failed write, nothing more is written.
class Lines
{
public:
    explicit Lines(FILE *to) : to_(to) {}
    // A file, as of command::Output: a regular file is there only after finish().
    Lines(const std::string &path, const std::vector<std::string> &inputs) : to_(nullptr)
    {
        file_.emplace(path, inputs);
    }

    // One or more lines, each with its newline.
    void print(const std::string &lines)
    {
        write([&] {
            if (file_)
                file_->text() += lines;
            else
                fputs(lines.c_str(), to_);
        });
    }
    bool has_failed()
    {
        const std::lock_guard lock(mutex_);
        return is_failed();
    }
    void flush()
    {
        write([&] { file_ ? file_->flush() : void(fflush(to_)); });
    }
    // What is wrong; empty if everything was written.
    std::string finish()
    {
        write([&] { file_ ? file_->finish() : void(fflush(to_)); });
        return error_;
    }

private:
    bool is_failed() const { return !error_.empty(); }
    template <class Write> void write(Write write)
    {
        const std::lock_guard lock(mutex_);
        if (is_failed())
            return;
        try {
            errno = 0;
            write();
            if (to_ && ferror(to_))
                error_ = std::string(to_ == stderr ? "standard error" : "standard output") +
                         ": cannot write: " + nslice_write_error(errno);
        } catch (const command::OutputError &error) {
            error_ = error.what();
        } catch (const command::OutputClosed &) {
            error_ = "output: cannot write: the reader closed the pipe";
        }
    }

    FILE *const to_; // null: file_
    std::optional<command::Output> file_;
    std::string error_;
    std::mutex mutex_;
};
} // namespace mapi_flow
