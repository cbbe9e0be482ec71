// SPDX-License-Identifier: MIT
#include "cli/top/find_process.hpp"

#include <unistd.h>

#include "common/command/output.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;
using command::UsageError;
using nsdump::AttachableProcess;

TEST_CASE("listeners for recorders are found among the sockets, each once", "[nsdump][top]")
{
    const std::string sockets =
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01 22137 @netslice.attach.1234\n"
        "0000000000000000: 00000003 00000000 00000000 0005 03 22138 @netslice.attach.1234\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 22139 /run/netslice.attach.77\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01 22140 @netslice.attach.99x\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01 22141 @netslice.attach.8";
    CHECK(nsdump::attachable_pids(sockets) == std::vector{8, 1234});
}

TEST_CASE("a name finds its only process, and otherwise the error lists the choice",
          "[nsdump][top]")
{
    const std::vector<AttachableProcess> processes = {
        {10, "mapid"}, {11, "app"}, {12, "app"}, {13, "a-very-long-nam"}};
    CHECK(nsdump::find_process("mapid", processes) == 10);
    CHECK(nsdump::find_process("a-very-long-name-of-a-program", processes) == 13);
    CHECK_THROWS_WITH(nsdump::find_process("app", processes), Contains("11 (app), 12 (app)"));
    CHECK_THROWS_AS(nsdump::find_process("app", processes), UsageError);
    CHECK_THROWS_WITH(nsdump::find_process("other", processes), Contains("10 (mapid)"));
    CHECK_THROWS_WITH(nsdump::find_process("mapid", {}), Contains("none does"));
}

TEST_CASE("the name of a process that is not there is empty", "[nsdump][top]")
{
    CHECK_FALSE(nsdump::process_name(getpid()).empty());
    CHECK(nsdump::process_name(-1).empty());
}
