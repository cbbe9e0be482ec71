// SPDX-License-Identifier: MIT
// Configuration file: which one is used, and its content.
#include "engine/config/config_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_error/file_error.h"
#include "engine/config/config_lines.hpp"
#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
constexpr off_t kLargestBytes = off_t(64) << 20;

class OpenFile
{
public:
    // O_NONBLOCK: opening a pipe without a writer must not block.
    explicit OpenFile(const std::string &path)
        : path_(path), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
    {
        if (fd_ < 0)
            refuse(nslice_read_error(errno));
    }
    ~OpenFile()
    {
        if (fd_ >= 0)
            close(fd_);
    }
    OpenFile(const OpenFile &) = delete;
    OpenFile &operator=(const OpenFile &) = delete;

    std::string read()
    {
        struct stat status = {};
        if (fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode))
            throw Error(MAPI_CONFIG_ERROR, path_ + ": is a directory (specify a file in it)");
        if (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > kLargestBytes)
            refuse(S_ISREG(status.st_mode) ? "it is too large" : "it is not a regular file");
        std::string text;
        char piece[4096];
        for (ssize_t got = 1; got > 0;) {
            got = ::read(fd_, piece, sizeof(piece));
            if (got < 0)
                refuse(nslice_read_error(errno));
            text.append(piece, size_t(got));
        }
        return text;
    }

private:
    [[noreturn]] void refuse(const std::string &why) const
    {
        throw Error(MAPI_CONFIG_ERROR, path_ + ": cannot be read: " + why);
    }

    const std::string path_;
    const int fd_;
};
} // namespace

std::string find_config()
{
    if (const char *named = std::getenv("MAPI_CONF"))
        return named;
    for (const char *place : {"mapi.conf", "/etc/mapi.conf"}) {
        std::error_code ignored;
        if (std::filesystem::exists(place, ignored))
            return place;
    }
    return {};
}

std::istringstream open_config(const std::string &path)
{
    return std::istringstream(OpenFile(path).read());
}

std::string find_config_value(const std::string &key)
{
    const std::string path = find_config();
    if (path.empty())
        return {};
    try {
        std::istringstream file = open_config(path);
        ConfigNotes ignored(path);
        const ConfigSection top = split_config(file, ignored).front();
        const ConfigKey *found = top.find(key);
        return found ? found->value : "";
    } catch (const Error &) { // callers that need the file report the error
        return {};
    }
}

bool is_mapid_local()
{
    return find_config_value("local") == "1";
}
} // namespace mapi::engine
