// SPDX-License-Identifier: MIT
// output: text -> standard output, or a file that is whole or not there.
#include "output.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mapi_cost
{
namespace
{
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

bool is_special_file(const std::string &path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

[[noreturn]] void fail(const std::string &path, int error)
{
    throw OutputError(path + ": cannot write: " + std::strerror(error));
}
} // namespace

void write_whole(const std::string &path, const std::string &text)
{
    if (path == "-") {
        const int error = write_all(STDOUT_FILENO, text);
        if (error != 0 && error != EPIPE)
            fail("standard output", error);
        return;
    }
    const bool in_place = is_special_file(path); // a pipe or terminal cannot be renamed to
    const std::string part = in_place ? path : path + "." + std::to_string(getpid()) + ".part";
    const int fd = open(part.c_str(), O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC), 0666);
    if (fd < 0)
        fail(path, errno);
    int error = write_all(fd, text);
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && !in_place && rename(part.c_str(), path.c_str()) != 0)
        error = errno;
    if (error == 0)
        return;
    if (!in_place)
        unlink(part.c_str());
    fail(path, error);
}
} // namespace mapi_cost
