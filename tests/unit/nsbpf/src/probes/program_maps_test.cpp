// SPDX-License-Identifier: MIT
// Loaded programs with probes: found, or tried again.
#include <csignal>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaded.hpp"
#include "src/probes/program_maps.hpp"
#include "support/catch.hpp"

using namespace nsbpf_test;
using nsbpf::Whose;

namespace
{
// While this lives, no more than some descriptors can be opened.
class FewDescriptors
{
public:
    explicit FewDescriptors(int more)
    {
        const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
        close(next);
        getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit few = {rlim_t(next + more), before_.rlim_max};
        REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    }
    ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(const FewDescriptors &) = delete;
    FewDescriptors &operator=(const FewDescriptors &) = delete;

private:
    rlimit before_;
};
} // namespace

TEST_CASE("a program that cannot be opened for lack of descriptors is named and found later",
          "[nsbpf][program_maps]")
{
    const Loaded program;
    if (!program.is_loaded())
        return;
    for (const int more : {0, 1, 2}) { // for nothing; the program; and one of its maps
        nsbpf::ProgramMaps maps(1, Whose::kAnybody);
        {
            const FewDescriptors few(more);
            CHECK_FALSE(program.is_in(maps.look()));
            REQUIRE_FALSE(maps.failures().empty());
            CHECK(maps.failures().back().find("ulimit -n") != std::string::npos);
        }
        CHECK(program.is_in(maps.look()));
        CHECK(maps.failures().empty());
        CHECK_FALSE(program.is_in(maps.look()));
    }
}

TEST_CASE("a program that a started process has open is found once", "[nsbpf][program_maps]")
{
    const Loaded program;
    if (!program.is_loaded())
        return;
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    nsbpf::ProgramMaps maps(1, Whose::kStarted);
    CHECK(program.is_in(maps.look()));
    CHECK_FALSE(program.is_in(maps.look()));
    CHECK(maps.failures().empty());
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST_CASE("of the own programs, those are found that this process has open, each once",
          "[nsbpf][program_maps]")
{
    int is_ready[2];
    REQUIRE(pipe(is_ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const Loaded of_another_process;
        close(is_ready[0]);
        close(is_ready[1]);
        pause();
        _exit(0);
    }
    close(is_ready[1]);
    char byte;
    REQUIRE(read(is_ready[0], &byte, 1) == 0);
    close(is_ready[0]);
    const Loaded program;
    if (program.is_loaded()) {
        nsbpf::ProgramMaps maps(1, Whose::kOwn);
        const std::vector<nsbpf::FoundProgram> found = maps.look();
        CHECK(found.size() == 1);
        CHECK(program.is_in(found));
        CHECK(maps.look().empty());
        CHECK(maps.failures().empty());
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}
