// SPDX-License-Identifier: MIT
// cli: a trace that comes through a pipe -> an unnamed file that takes its place.
#include "cli/read/standard_input.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "analyse/statistics/unnamed_file.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "common/file_error/file_error.h"
#include "decode/error.hpp"
#include "decode/trace_parts.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kBlockBytes = 1 << 20;

bool is_readable_file()
{
    struct stat status = {};
    return fstat(STDIN_FILENO, &status) == 0 &&
           (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) || S_ISDIR(status.st_mode)) &&
           lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
}

// Fills the block unless the input ends before.
size_t read_block(std::vector<char> &block)
{
    size_t done = 0;
    while (done < block.size()) {
        const ssize_t now = read(STDIN_FILENO, block.data() + done, block.size() - done);
        if (command_was_interrupted())
            throw command::Interrupted();
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            throw TraceError(
                fmt::format("standard input: cannot read: {}", nslice_read_error(errno)));
        if (now == 0)
            break;
        done += size_t(now);
    }
    return done;
}

[[noreturn]] void throw_no_room()
{
    throw command::OutputError(
        fmt::format("{}: cannot write: {}", kTemporaryFolders, nslice_write_error(errno)));
}

void write_block(int file, const char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t now = write(file, data + done, bytes - done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            throw_no_room();
        done += size_t(now);
    }
}

bool begins_a_trace(const std::vector<char> &block, size_t bytes)
{
    constexpr size_t kMagicBytes = sizeof NSLICE_FILE_MAGIC - 1;
    return bytes >= kMagicBytes && std::memcmp(block.data(), NSLICE_FILE_MAGIC, kMagicBytes) == 0;
}

// How much was copied; its end is not known before it comes.
class CopyProgress
{
public:
    void show(uint64_t bytes)
    {
        const auto now = std::chrono::steady_clock::now();
        if (!line_.is_on() || now < next_)
            return;
        next_ = now + std::chrono::milliseconds(200);
        line_.show(fmt::format("standard input: {} MB", bytes / 1'000'000));
    }

private:
    command::StatusLine line_;
    std::chrono::steady_clock::time_point next_ =
        std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

void copy_to(int file)
{
    std::vector<char> block(kBlockBytes);
    CopyProgress progress;
    uint64_t copied_bytes = 0;
    for (size_t bytes = read_block(block); bytes > 0; bytes = read_block(block)) {
        write_block(file, block.data(), bytes);
        if (copied_bytes == 0 && !begins_a_trace(block, bytes))
            return; // opening it says what is wrong
        copied_bytes += bytes;
        progress.show(copied_bytes);
    }
}
} // namespace

void make_standard_input_a_file()
{
    if (is_readable_file())
        return;
    if (isatty(STDIN_FILENO) == 1)
        throw command::UsageError(
            "a trace cannot be read from a terminal (give a file, or pipe one in)");
    const int file = open_unnamed_file();
    if (file < 0)
        throw_no_room();
    try {
        copy_to(file);
    } catch (...) {
        close(file);
        throw;
    }
    if (dup2(file, STDIN_FILENO) < 0) {
        close(file);
        throw TraceError(
            fmt::format("standard input: cannot replace: {}", nslice_read_error(errno)));
    }
    close(file);
}
} // namespace nsdump
