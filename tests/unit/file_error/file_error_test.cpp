// SPDX-License-Identifier: MIT
// Every failure that a user can run into has its cause and a remedy.
#include "common/file_error/file_error.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "support/catch.hpp"

namespace
{
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
} // namespace

TEST_CASE("a write failure is reported with cause and remedy", "[file_error]")
{
    for (const int err : {ENOENT, EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EFBIG, EISDIR, ETXTBSY,
                          EBADF, EPIPE, ENOTDIR, ELOOP, ENAMETOOLONG, EMFILE, ENFILE, EIO}) {
        INFO(std::strerror(err));
        CHECK_THAT(nslice_write_error(err), StartsWith(std::string(std::strerror(err)) + " ("));
    }
    CHECK_THAT(nslice_write_error(ENOSPC), Contains("(free some space"));
    CHECK_THAT(nslice_write_error(ENOENT), Contains("mkdir"));
}

TEST_CASE("a read failure has a remedy of its own", "[file_error]")
{
    for (const int err :
         {ENOENT, EISDIR, EACCES, ENOTDIR, ELOOP, ENAMETOOLONG, EMFILE, ENFILE, EIO}) {
        INFO(std::strerror(err));
        CHECK_THAT(nslice_read_error(err), StartsWith(std::string(std::strerror(err)) + " ("));
    }
    CHECK_THAT(nslice_read_error(ENOENT), !Contains("mkdir"));
}

TEST_CASE("a cause without a remedy is reported by itself", "[file_error]")
{
    CHECK(std::string(nslice_write_error(EDOM)) == std::strerror(EDOM));
    CHECK(std::string(nslice_read_error(EDOM)) == std::strerror(EDOM));
}
