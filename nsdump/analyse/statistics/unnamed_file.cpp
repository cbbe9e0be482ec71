// SPDX-License-Identifier: MIT
// analyse: data that does not fit in memory -> a temporary file that has no name.
#include "analyse/statistics/unnamed_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace nsdump
{
int open_unnamed_file()
{
    const char *const given = std::getenv("TMPDIR");
    const std::string folder = given && *given ? given : "/var/tmp";
    int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0)
        return file;
    std::string path = folder + "/nsdump-XXXXXX"; // not every file system supports O_TMPFILE
    file = mkostemp(path.data(), O_CLOEXEC);
    if (file >= 0 && unlink(path.c_str()) < 0) {
        close(file);
        file = -1;
    }
    return file;
}
} // namespace nsdump
