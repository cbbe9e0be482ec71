// SPDX-License-Identifier: MIT
// Loaded programs with probes: found, or tried again.
#include <algorithm>
#include <csignal>
#include <vector>

#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <nslice/ring.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "map_rig.hpp"
#include "src/probes/program_maps.hpp"
#include "support/catch.hpp"

using namespace nsbpf_test;
using nsbpf::Whose;

namespace
{
// A program that refers to a ring and sites; without capabilities it is not loaded.  For one CPU:
// recorders on this machine may refuse it.
class Loaded
{
public:
    Loaded()
    {
        const auto load_map = [](int map) {
            return bpf_insn{BPF_LD | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map}; // BPF_IMM is 0
        };
        const bpf_insn second_half = {};
        const bpf_insn instructions[] = {
            load_map(rings_.get()),
            second_half,
            load_map(sites_.get()),
            second_half,
            {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
            {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
        };
        program_ = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "probes", "Dual MIT/GPL",
                                 instructions, std::size(instructions), nullptr);
        bpf_prog_info info = {};
        uint32_t bytes = sizeof(info);
        if (program_ >= 0 && bpf_obj_get_info_by_fd(program_, &info, &bytes) == 0)
            id_ = info.id;
    }
    ~Loaded() { close(program_); }
    Loaded(const Loaded &) = delete;
    Loaded &operator=(const Loaded &) = delete;

    bool is_loaded() const { return id_ != 0; }
    bool is_in(const std::vector<nsbpf::FoundProgram> &found) const
    {
        return std::ranges::any_of(found, [this](const nsbpf::FoundProgram &one) {
            return one.id == id_ && one.name == "probes" && one.fault.empty() &&
                   one.rings.size() == 1 && one.sites.size() == 1;
        });
    }

private:
    nsbpf::Descriptor rings_{create_rings()};
    nsbpf::Descriptor sites_{create_map(NSLICE_BPF_SITES, sizeof(nslice_bpf_site))};
    int program_;
    uint32_t id_ = 0;
};

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
