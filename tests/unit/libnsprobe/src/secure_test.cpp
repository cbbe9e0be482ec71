// SPDX-License-Identifier: MIT
// Programs that run with another user's rights ignore the environment of the process that starts
// them.
#include "support/catch.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <filesystem>

#include "child_program.hpp"
#include "support/record_reader.hpp"
#include "support/requires.hpp"
#include "support/temp_dir.hpp"

namespace
{
constexpr unsigned kNobody = 65534;
}

TEST_CASE("the environment opens a session in an ordinary program", "[libnsprobe][secure]")
{
    test_support::TempDir dir;
    const auto trace = dir / "t.nsl";
    ChildProgram program({ATTACHABLE, "-", "10"},
                         {{"NETSLICE", "output=" + trace.string() + " calibration=no"}});
    CHECK(program.line() == "ready");
    CHECK(program.end(0) == 0);
    const auto read = test_support::read_trace(trace);
    CHECK(read.complaint() == "");
    CHECK(read.issued() == 40);
}

TEST_CASE("the environment is ignored by a program that runs with another user's rights",
          "[libnsprobe][secure]")
{
#ifdef __SANITIZE_ADDRESS__
    return test_support::skip(
        "the leak checker cannot inspect a program that runs with another user's rights");
#endif
    test_support::TempDir dir;
    const auto program_path = dir / "setuid_program";
    const auto trace = dir / "t.nsl";
    struct statvfs mount;
    std::filesystem::copy_file(ATTACHABLE, program_path);
    statvfs(dir.path().c_str(), &mount);
    if (mount.f_flag & ST_NOSUID)
        return test_support::skip("the temporary folder is mounted nosuid");
    if (chown(program_path.c_str(), kNobody, kNobody))
        return test_support::skip("only root can create the required program");
    REQUIRE(chmod(program_path.c_str(), 04755) == 0);
    REQUIRE(chmod(dir.path().c_str(), 0777) ==
            0); // so that only the library itself can prevent a file here
    ChildProgram program({program_path, "-", "10"},
                         {{"NETSLICE", "output=" + trace.string() + " calibration=no"}});
    CHECK(program.line() == "ready");
    CHECK(program.end(0) == 0);
    CHECK_FALSE(std::filesystem::exists(trace));
}
