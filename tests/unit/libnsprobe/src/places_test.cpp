// SPDX-License-Identifier: MIT
// The code of a probe: a no-op while its site is off, a jump while it is on.
#include "support/catch.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <nsprobe/probe.h>

#include "child_program.hpp"
#include "support/probe_session.hpp"
#include "support/record_reader.hpp"
#include "support/temp_dir.hpp"

extern "C" {
#include "sites/places.h"
#include "sites/sites.h"
}

using test_support::ProbeSession;

namespace
{
const std::string kNoOp = "\x0f\x1f\x44", kJump = "\xe9";

void work()
{
    NET_SLICE_START(first);
    NET_SLICE_START(second);
    NET_SLICE_STOP(second);
    NET_SLICE_STOP(first);
}

// For code that must not be executed while it is damaged.
__attribute__((noinline, used)) void never_called()
{
    NET_SLICE_MARK(never, 1);
}

const nsp_site &site_of(const nsp_place &place)
{
    return *reinterpret_cast<const nsp_site *>(reinterpret_cast<const char *>(&place.site) +
                                               place.site);
}

char *code_of(const nsp_place &place)
{
    return const_cast<char *>(reinterpret_cast<const char *>(&place.code)) + place.code;
}

std::vector<const nsp_place *> places(const std::string &name)
{
    std::vector<const nsp_place *> found;
    for (const nsp_place *place = __start_nsprobe_sites_places; place < __stop_nsprobe_sites_places;
         ++place)
        if (site_of(*place).name == name)
            found.push_back(place);
    REQUIRE_FALSE(found.empty());
    return found;
}

bool all_begin_with(const std::string &name, const std::string &bytes)
{
    for (const nsp_place *place : places(name))
        if (std::memcmp(code_of(*place), bytes.data(), bytes.size()) != 0)
            return false;
    return true;
}

// As in /proc/self/maps.
std::string protection_at(const void *address)
{
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream fields(line);
        uintptr_t begin, end;
        char dash;
        std::string protection;
        fields >> std::hex >> begin >> dash >> end >> protection;
        if (reinterpret_cast<uintptr_t>(address) - begin < end - begin)
            return protection;
    }
    return "not mapped";
}

// Writes over code; restores it at the end.
class Breakpoint
{
public:
    explicit Breakpoint(char *code) : code_(code), before_(*code) { write('\xcc'); }
    ~Breakpoint() { write(before_); }

private:
    void write(char byte)
    {
        const auto page = reinterpret_cast<uintptr_t>(code_) & -uintptr_t(getpagesize());
        mprotect(reinterpret_cast<void *>(page), size_t(getpagesize()),
                 PROT_READ | PROT_WRITE | PROT_EXEC);
        *code_ = byte;
        mprotect(reinterpret_cast<void *>(page), size_t(getpagesize()), PROT_READ | PROT_EXEC);
    }
    char *code_, before_;
};

// From here on, mprotect() of this process refuses memory that is writable and executable.
void refuse_writable_code()
{
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_WRITE | PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
        _exit(126);
}

// Of the code of a running program: it has copies of the pages that were written.
unsigned long changed_kbytes(int pid)
{
    std::ifstream maps("/proc/" + std::to_string(pid) + "/smaps");
    bool is_code = false;
    unsigned long sum = 0, begin, end, kbytes;
    char protection[5];
    for (std::string line; std::getline(maps, line);)
        if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, protection) == 3)
            is_code = protection[2] == 'x' && line.find(ATTACHABLE) != std::string::npos;
        else if (is_code && std::sscanf(line.c_str(), "Anonymous: %lu", &kbytes) == 1)
            sum += kbytes;
    return sum;
}

struct Recorded {
    bool is_code_changed;
    uint64_t issued;
};

// A program that opens a session when its code has been looked at.
Recorded record_program(const std::string &keep_code, const std::function<void()> &before_exec = {})
{
    test_support::TempDir dir;
    const auto trace = dir / "t.nsl";
    ChildProgram program({ATTACHABLE, "calibration=no output=" + trace.string(), "1000000000"},
                         {{"NETSLICE_KEEP_CODE", keep_code}}, before_exec);
    CHECK(program.line() == "ready");
    const bool is_code_changed = changed_kbytes(program.pid()) > 0;
    usleep(10000);
    CHECK(program.end(SIGTERM) == 0);
    const auto read = test_support::read_trace(trace);
    CHECK(read.complaint() == "");
    CHECK(read.issued() % 4 == 0);
    return {is_code_changed, read.issued()};
}
} // namespace

TEST_CASE("a probe is one no-op while no session is open", "[libnsprobe][places]")
{
    CHECK(all_begin_with("first", kNoOp));
    {
        ProbeSession session("calibration=no");
        work();
        CHECK(all_begin_with("first", kJump));
    }
    CHECK(all_begin_with("first", kNoOp));
}

TEST_CASE("only probes that the rules select are jumps", "[libnsprobe][places]")
{
    ProbeSession session("calibration=no slices=first");
    CHECK(all_begin_with("first", kJump));
    CHECK(all_begin_with("second", kNoOp));
    REQUIRE(nsp_sites_select("second") == 0);
    CHECK(all_begin_with("first", kNoOp));
    CHECK(all_begin_with("second", kJump));
}

TEST_CASE("code is writable only while it is being changed", "[libnsprobe][places]")
{
    ProbeSession session("calibration=no");
    CHECK(protection_at(code_of(*places("first")[0])) == "r-xp");
}

TEST_CASE("the bytes of a place are in one aligned word", "[libnsprobe][places]")
{
    for (const nsp_place *place = __start_nsprobe_sites_places; place < __stop_nsprobe_sites_places;
         ++place)
        CHECK(reinterpret_cast<uintptr_t>(code_of(*place)) % 8 <= 3);
}

TEST_CASE("a debugger's breakpoint in the place of a probe is not overwritten",
          "[libnsprobe][places]")
{
    char *const code = code_of(*places("never")[0]);
    {
        const Breakpoint breakpoint(code);
        ProbeSession session("calibration=no");
        CHECK(*code == '\xcc');
        session.close();
        CHECK(*code == '\xcc');
    }
    CHECK(all_begin_with("never", kNoOp));
}

TEST_CASE("a program whose code is kept as it is records all the same", "[libnsprobe][places]")
{
    const Recorded changed = record_program("0"), kept = record_program("1");
    CHECK(changed.is_code_changed);
    CHECK(changed.issued > 0);
    CHECK_FALSE(kept.is_code_changed);
    CHECK(kept.issued > 0);
}

TEST_CASE("a program whose code the system does not let it change records all the same",
          "[libnsprobe][places]")
{
    const Recorded refused = record_program("0", refuse_writable_code);
    CHECK_FALSE(refused.is_code_changed);
    CHECK(refused.issued > 0);
}

TEST_CASE("a session is refused if code can no longer be changed", "[libnsprobe][places]")
{
    test_support::TempDir dir;
    const std::string options = "calibration=no output=" + (dir / "t.nsl").string();
    const pid_t child = fork();
    if (child == 0) {
        refuse_writable_code();
        for (int i = 0; i < 2; ++i) // the second must not find it forgotten
            if (nsp_session_configure(options.c_str()) != -EACCES ||
                !std::strstr(nsp_last_error(), "NETSLICE_KEEP_CODE=1"))
                _exit(1);
        _exit(0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}
