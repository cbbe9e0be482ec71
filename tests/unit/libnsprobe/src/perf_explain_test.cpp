// SPDX-License-Identifier: MIT
// Refusals by the kernel, real ones where the test can create the sandbox -> messages that name a
// remedy.
#include "support/catch.hpp"

#include <cerrno>
#include <cstddef>
#include <string>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nsprobe/counters.h>

extern "C" {
#include "counters/perf_counter.h"
}

namespace
{
std::string explain(int err)
{
    nsp_event event{};
    event.exclude_kernel = 1;
    CHECK(nsp_perf_explain_refusal("instructions", &event, err) == -ENOTSUP);
    return nsp_last_error();
}

// As a container's filter does it: the call exists and is refused.
void refuse_perf_event_open(int err)
{
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | unsigned(err)),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program = {static_cast<unsigned short>(std::size(code)), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(2);
}

// The error that a process in such a sandbox gets when it asks for the counter.
std::string words_in_sandbox(int err)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        refuse_perf_event_open(err);
        const bool is_refused = nsp_source_try(NSP_SOURCE_PERF_READ, "instructions") != 0;
        const std::string words = is_refused ? nsp_last_error() : "it was not refused";
        _exit(write(ends[1], words.data(), words.size()) == static_cast<ssize_t>(words.size()) ? 0
                                                                                               : 3);
    }
    close(ends[1]);
    char text[1024] = "";
    const ssize_t got = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    INFO("exit status " << status << ", 512: this kernel installs no filter");
    REQUIRE(got > 0);
    return text;
}
} // namespace

TEST_CASE("a machine without a PMU is distinguished from one that refuses", "[libnsprobe][explain]")
{
    CHECK_THAT(explain(ENOENT), Catch::Contains("no PMU"));
    CHECK_THAT(explain(ENOSYS), Catch::Contains("no perf_event_open"));
    CHECK_THAT(explain(EMFILE), Catch::Contains("ulimit -n"));
    CHECK_THAT(explain(E2BIG), Catch::Contains("perf_event_open: "));
}

TEST_CASE("a sandbox that filters perf_event_open is named", "[libnsprobe][explain]")
{
    const std::string refused = words_in_sandbox(EPERM);
    CHECK_THAT(refused, Catch::Contains("\"instructions\""));
    CHECK_THAT(refused, Catch::Contains("sandbox") || Catch::Contains("perf_event_paranoid"));
    if (geteuid() == 0)
        CHECK_THAT(refused, Catch::Contains("filters system calls"));
    CHECK_THAT(words_in_sandbox(ENOSYS), Catch::Contains("sandbox"));
}
