// SPDX-License-Identifier: MIT
// output: text -> standard output or a file, which is complete or absent.
#include "output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "common/file_error/file_error.h"
#include "output_path.hpp"
#include "signals.h"
#include "tell.hpp"

namespace command
{
namespace
{
namespace fs = std::filesystem;

constexpr int kPipeMilliseconds = 20;

constexpr const char *kSameAsInput = "the output is the same file as the input";

[[noreturn]] void throw_same_file(const std::string &path, const char *what)
{
    throw UsageError(fmt::format("{}: {} (choose another name)", path, what));
}

std::optional<Identity> identity_of_input(const std::string &input)
{
    return input == "-" ? identity(STDIN_FILENO) : identity(input);
}

bool is_pipe(const std::string &path)
{
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

// A named pipe may get its reader later; Ctrl-C must work meanwhile.
int open_in_place(const std::string &path)
{
    for (bool has_reported = false;; has_reported = true) {
        const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0) {
            fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
            return fd;
        }
        if (const int error = errno; error != ENXIO || !is_pipe(path)) {
            errno = error;
            throw_cannot_write(path);
        }
        if (!has_reported)
            tell("{}: waiting for a reader of this pipe\n", path);
        if (command_was_interrupted())
            throw Interrupted();
        command_pause(kPipeMilliseconds);
    }
}

// Where to create the file, and the properties of the file that it replaces.
struct Target {
    fs::path path; // with all symbolic links resolved
    fs::path folder;
    struct stat old = {}; // of the existing file
    bool is_there = false;
    bool is_special = false; // pipes and terminals are written in place
};

void check_access(const std::string &path, const char *place, int mode)
{
    if (access(place, mode) != 0)
        throw_cannot_write(path);
}

// Throws OutputError if it cannot be written.
Target target_of(const std::string &path)
{
    Target target;
    errno = follow_links(path, target.path);
    if (errno != 0)
        throw_cannot_write(path);
    target.folder = target.path.has_parent_path() ? target.path.parent_path() : ".";
    target.is_there = stat(target.path.c_str(), &target.old) == 0;
    if (!target.is_there && errno != ENOENT)
        throw_cannot_write(path);
    target.is_special = target.is_there && !S_ISREG(target.old.st_mode);
    errno = target.is_there && S_ISDIR(target.old.st_mode) ? EISDIR : 0;
    if (errno != 0)
        throw_cannot_write(path);
    if (target.is_there)
        check_access(path, target.path.c_str(), W_OK);
    if (!target.is_special)
        check_access(path, target.folder.c_str(), W_OK | X_OK);
    return target;
}

// Creates the temporary file next to the target, with the same owner and mode.
int open_beside(const std::string &path, const Target &target, std::string &temporary)
{
    const int fd = mkostemp(temporary.data(), O_CLOEXEC);
    if (fd < 0) {
        temporary.clear();
        throw_cannot_write(path);
    }
    const mode_t mask = umask(0);
    umask(mask);
    if (target.is_there) [[maybe_unused]]
        const int is_foreign = fchown(fd, target.old.st_uid, target.old.st_gid); // only for root
    fchmod(fd, target.is_there ? target.old.st_mode & 07777 : 0666 & ~mask);
    return fd;
}
} // namespace

void throw_cannot_write(const std::string &path)
{
    throw OutputError(fmt::format("{}: cannot write: {}", path, nslice_write_error(errno)));
}

Output::Output(const std::string &path, const std::vector<std::string> &inputs)
    : path_(path == "-" ? "" : path)
{
    if (path_.empty())
        return;
    for (const std::string &input : inputs)
        if (const auto file = identity(path_);
            file && !input.empty() && identity_of_input(input) == file)
            throw_same_file(path_, kSameAsInput);
    const Target target = target_of(path_);
    if (target.is_special) {
        fd_ = open_in_place(target.path);
        return;
    }
    temporary_ = target.folder / ".netslice.XXXXXX";
    fd_ = open_beside(path_, target, temporary_);
    target_ = target.path;
}

Output::~Output()
{
    if (fd_ != STDOUT_FILENO && fd_ >= 0)
        close(fd_);
    if (!temporary_.empty())
        unlink(temporary_.c_str());
}

void Output::flush()
{
    size_t done = 0;
    while (done < text_.size()) {
        const ssize_t n = write(fd_, text_.data() + done, text_.size() - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EPIPE)
            throw OutputClosed();
        if (n < 0)
            throw_cannot_write(path_.empty() ? "standard output" : path_);
        done += size_t(n);
    }
    text_.clear();
}

void Output::finish()
{
    flush();
    if (temporary_.empty())
        return;
    const int closed = close(fd_);
    fd_ = -1;
    if (closed != 0 || rename(temporary_.c_str(), target_.c_str()) != 0)
        throw_cannot_write(path_);
    temporary_.clear();
}

void check_outputs(const std::string &input, const std::vector<std::string> &outputs)
{
    std::map<Identity, const char *> taken; // with what another output of that name would be
    if (const auto file = identity_of_input(input))
        taken.emplace(*file, kSameAsInput);
    if (const auto file = identity(STDOUT_FILENO))
        if (!taken.emplace(*file, "the output is the same file as standard output").second)
            throw_same_file(input, "the input is the same file as standard output");
    for (const std::string &output : outputs) {
        if (output.empty() || output == "-")
            continue;
        if (const auto file = identity(output)) {
            const auto [known, is_new] = taken.emplace(*file, "is used for two outputs");
            if (!is_new)
                throw_same_file(output, known->second);
        }
        target_of(output);
    }
}

void write_whole(const std::string &path, const std::string &text)
{
    try {
        Output output(path);
        output.text() = text;
        output.finish();
    } catch (const OutputClosed &) {
        // the reader closed the pipe
    }
}
} // namespace command
