// SPDX-License-Identifier: MIT
// output: text -> standard output, or a file that is whole or not there.
#include "output.hpp"

#include <cerrno>
#include <cstring>
#include <map>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_path.hpp"

namespace mapi_cost
{
namespace
{
namespace fs = std::filesystem;

// 0 or errno.
int write_all(int fd, const std::string &text)
{
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t n = write(fd, text.data() + done, text.size() - done);
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? std::size_t(n) : 0;
    }
    return 0;
}

[[noreturn]] void fail(const std::string &path, int error)
{
    throw OutputError((path == "-" ? "standard output" : path) + ": cannot write: " + std::strerror(error));
}

// What a file that is made now has to look like, and where.
struct Target {
    fs::path path; // behind all symbolic links
    fs::path folder;
    struct stat old = {}; // of the file that is there
    bool is_there = false;
    bool is_special = false; // a pipe or terminal cannot be renamed to
};

// Throws OutputError when it cannot be written.
Target target_of(const std::string &path)
{
    Target target;
    if (const int error = follow_links(path, target.path); error != 0)
        fail(path, error);
    target.folder = target.path.has_parent_path() ? target.path.parent_path() : ".";
    target.is_there = stat(target.path.c_str(), &target.old) == 0;
    target.is_special = target.is_there && !S_ISREG(target.old.st_mode);
    if (target.is_there && S_ISDIR(target.old.st_mode))
        fail(path, EISDIR);
    if (target.is_there && access(target.path.c_str(), W_OK) != 0)
        fail(path, errno);
    if (!target.is_special && access(target.folder.c_str(), W_OK | X_OK) != 0)
        fail(path, errno);
    return target;
}

// 0 or errno.
int replace(const Target &target, const std::string &text)
{
    const std::string part = target.folder / (".mapi-cost." + std::to_string(getpid()) + ".part");
    unlink(part.c_str()); // of a process of this number that was killed
    const int fd = open(part.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    if (fd < 0)
        return errno;
    if (target.is_there) {
        [[maybe_unused]] const int is_foreign = fchown(fd, target.old.st_uid, target.old.st_gid); // root alone may
        fchmod(fd, target.old.st_mode & 07777);
    }
    int error = write_all(fd, text);
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && rename(part.c_str(), target.path.c_str()) != 0)
        error = errno;
    if (error != 0)
        unlink(part.c_str());
    return error;
}

int write_in_place(const Target &target, const std::string &text)
{
    const int fd = open(target.path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const int error = write_all(fd, text);
    return close(fd) != 0 && error == 0 ? errno : error;
}
} // namespace

void check_outputs(const std::string &capture, const std::vector<std::string> &outputs)
{
    std::map<Identity, std::string> taken;
    const auto take = [&](const std::optional<Identity> &file, const std::string &name) {
        if (!file)
            return;
        const auto [known, is_new] = taken.emplace(*file, name);
        if (!is_new)
            throw OutputClash(name + " and " + known->second + " are the same file; give each a name of its own");
    };
    take(identity(capture), "the capture " + capture);
    take(identity(STDOUT_FILENO), "standard output");
    for (const std::string &output : outputs) {
        if (output.empty() || output == "-")
            continue;
        take(identity(output), "the output " + output);
        target_of(output);
    }
}

void write_whole(const std::string &path, const std::string &text)
{
    if (path == "-") {
        const int error = write_all(STDOUT_FILENO, text);
        if (error != 0 && error != EPIPE)
            fail(path, error);
        return;
    }
    const Target target = target_of(path);
    const int error = target.is_special ? write_in_place(target, text) : replace(target, text);
    if (error != 0)
        fail(path, error);
}
} // namespace mapi_cost
