// SPDX-License-Identifier: MIT
// Source step: corrected counts of known code are exact to the instruction; what a stepped program
// may do.
#include "stepped.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

using stepped::net_counts;

namespace
{
#define NOPS(count) __asm__ volatile(".rept " #count "\n\tnop\n\t.endr")
#define SLICE_OF(name, count)  \
    do {                       \
        NET_SLICE_START(name); \
        NOPS(count);           \
        NET_SLICE_STOP(name);  \
    } while (0)
#define AROUND(name, inner) \
    NET_SLICE_START(name);  \
    NOPS(7);                \
    inner;                  \
    NOPS(3);                \
    NET_SLICE_STOP(name)

const char *const kStep = "counters=instructions source=step";
} // namespace

TEST_CASE("code of 0 to 100,000 instructions is counted to the instruction", "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    SLICE_OF(n0, 0);
    SLICE_OF(n1, 1);
    SLICE_OF(n10, 10);
    SLICE_OF(n100, 100);
    SLICE_OF(n1000, 1000);
    SLICE_OF(n10000, 10000);
    NET_SLICE_START(n100000);
    __asm__ volatile("nop\n\tmov $49999, %%ecx\n1:\tdec %%ecx\n\tjnz 1b" ::: "ecx", "cc");
    NET_SLICE_STOP(n100000);
    const auto result = session.close();
    require_accounted(result, 14);
    const auto counts = net_counts(result.trace);
    CHECK(counts.at("n0") == 0);
    CHECK(counts.at("n1") == 1);
    CHECK(counts.at("n10") == 10);
    CHECK(counts.at("n100") == 100);
    CHECK(counts.at("n1000") == 1000);
    CHECK(counts.at("n10000") == 10000);
    CHECK(counts.at("n100000") == 100000);
}

TEST_CASE("slices nested 1 to 9 deep are each counted to the instruction", "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    AROUND(d8,
           AROUND(d7,
                  AROUND(d6,
                         AROUND(d5,
                                AROUND(d4, AROUND(d3, AROUND(d2, AROUND(d1, SLICE_OF(d0, 5)))))))));
    const auto result = session.close();
    require_accounted(result, 18);
    const auto counts = net_counts(result.trace);
    for (int depth = 0; depth <= 8; ++depth)
        CHECK(counts.at("d" + std::to_string(depth)) == 5 + 10 * depth);
}

TEST_CASE("consecutive slices inside a slice are each subtracted", "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    NET_SLICE_START(around);
    NOPS(11);
    SLICE_OF(a, 20);
    SLICE_OF(b, 30);
    NOPS(4);
    SLICE_OF(c, 0);
    NET_SLICE_STOP(around);
    const auto counts = net_counts(session.close().trace);
    CHECK(counts.at("around") == 65);
    CHECK(counts.at("b") == 30);
}

#ifndef __SANITIZE_ADDRESS__ // which takes more than one instruction to load a pointer
namespace
{
__attribute__((noinline)) void named_at_run_time(nsp_slice *outer, nsp_slice *inner)
{
    NET_SLICE_START_AT(outer);
    NOPS(7);
    NET_SLICE_START_AT(inner);
    NOPS(20);
    NET_SLICE_STOP_AT(inner);
    NOPS(3);
    NET_SLICE_STOP_AT(outer);
}
} // namespace

TEST_CASE("slices named at run time are counted to the instruction", "[libnsprobe][step]")
{
    nsp_slice *const outer = NET_SLICE_CREATE("outer");
    nsp_slice *const inner = NET_SLICE_CREATE("inner");
    test_support::ProbeSession session(kStep);
    named_at_run_time(outer, inner);
    const auto counts = net_counts(session.close().trace);
    CHECK(counts.at("inner") == 20);
    CHECK(counts.at("outer") == 30);
}
#endif

// Each in a function of its own: a compiler may move later code's setup into a slice, where it
// would count.
namespace
{
char from[3000], to[3000];

__attribute__((noinline)) void move_strings()
{
    NET_SLICE_START(moves);
    __asm__ volatile("lea %0, %%rsi\n\tlea %1, %%rdi\n\tmov $3000, %%ecx\n\trep movsb" // 4
                     :
                     : "m"(from), "m"(to)
                     : "rsi", "rdi", "rcx", "memory");
    __asm__ volatile("lea %0, %%rdi\n\tmov $100, %%ecx\n\txor %%eax, %%eax\n\trep stosq\n\tnop" // 5
                     :
                     : "m"(to)
                     : "rax", "rdi", "rcx", "cc", "memory");
    __asm__ volatile("xor %%ecx, %%ecx\n\trep movsb" ::
                         : "rcx", "rsi", "rdi", "cc", "memory"); // 2, no iteration at all
    NET_SLICE_STOP(moves);
}

__attribute__((noinline)) void loop_in_place()
{
    NET_SLICE_START(loop);
    __asm__ volatile("mov $50, %%rcx\n1:\tloop 1b" ::: "rcx");
    NET_SLICE_STOP(loop);
}

__attribute__((noinline)) void call_system()
{
    NET_SLICE_START(calls);
    __asm__ volatile(".rept 5\n\tmov %0, %%eax\n\tsyscall\n\tnop\n\t.endr"
                     :
                     : "i"(SYS_getppid)
                     : "rax", "rcx", "r11", "memory");
    NET_SLICE_STOP(calls);
}
} // namespace

TEST_CASE("a repeated string instruction counts once however long it runs", "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    move_strings();
    CHECK(net_counts(session.close().trace).at("moves") == 11);
}

TEST_CASE("an instruction that jumps to itself counts every time", "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    loop_in_place();
    CHECK(net_counts(session.close().trace).at("loop") == 51);
}

TEST_CASE("a system call counts as one instruction", "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    call_system();
    CHECK(net_counts(session.close().trace).at("calls") == 15);
}

TEST_CASE("every n-th unit is counted and the others have no counter words", "[libnsprobe][step]")
{
    test_support::ProbeSession session(std::string(kStep) + " step-every=3");
    for (unsigned i = 0; i < 9; ++i) {
        NET_SLICE_INIT(unit, i, 1, 64);
        SLICE_OF(work, 40);
        NET_SLICE_EXIT(unit);
    }
    const auto result = session.close();
    require_accounted(result, 36);
    uint64_t unit = 0, counted = 0;
    for (const auto &record : result.trace.records) {
        if (record.kind == NSLICE_KIND_INIT)
            unit = record.word[0];
        if (record.kind == NSLICE_KIND_START || record.kind == NSLICE_KIND_STOP) {
            CHECK(record.words == (unit % 3 == 0 ? 1 : 0));
            counted += record.words;
        }
    }
    CHECK(counted == 6);
    CHECK(net_counts(result.trace).at("work") == 40);
}

namespace
{
void handler_with_slice(int)
{
    SLICE_OF(in_handler, 25);
}
} // namespace

TEST_CASE("a signal handler with its own slice is counted correctly while the program is stepped",
          "[libnsprobe][step]")
{
    signal(SIGUSR1, handler_with_slice);
    test_support::ProbeSession session(kStep);
    NET_SLICE_START(around);
    for (int i = 0; i < 5; ++i)
        raise(SIGUSR1);
    NET_SLICE_STOP(around);
    SLICE_OF(after, 12);
    const auto result = session.close();
    require_accounted(result, 14);
    const auto counts = net_counts(result.trace);
    CHECK(counts.at("in_handler") == 25);
    CHECK(counts.at("after") == 12);
}

TEST_CASE("a session that ends inside a slice also ends the stepping", "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    NET_SLICE_START(open);
    const auto result = session.close();
    uint64_t flags;
    __asm__ volatile("nop\n\tnop\n\tpushfq\n\tpop %0" : "=r"(flags));
    CHECK((flags & 0x100) == 0);
    require_accounted(result, 1);
    NET_SLICE_STOP(open);
    test_support::ProbeSession next(kStep);
    SLICE_OF(fresh, 10);
    CHECK(net_counts(next.close().trace).at("fresh") == 10);
}

TEST_CASE("a thread created inside a stepped slice is not stepped and ends normally",
          "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    static uint64_t flags = 0x100;
    pthread_t thread;
    NET_SLICE_START(creates);
    const int err = pthread_create(
        &thread, nullptr,
        [](void *) -> void * {
            __asm__ volatile("nop\n\tnop\n\tpushfq\n\tpop %0" : "=r"(flags));
            SLICE_OF(in_thread, 33);
            return nullptr;
        },
        nullptr);
    NET_SLICE_STOP(creates);
    REQUIRE(err == 0);
    pthread_join(thread, nullptr);
    const auto result = session.close();
    require_accounted(result, 4);
    CHECK((flags & 0x100) == 0);
    CHECK(net_counts(result.trace).at("in_thread") == 33);
}

TEST_CASE("a stepped slice may block every signal, and stepping continues", "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    sigset_t all, before, within, after;
    sigfillset(&all);
    NET_SLICE_START(blocks);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_sigmask(SIG_BLOCK, nullptr, &within);
    NOPS(10);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    NET_SLICE_STOP(blocks);
    pthread_sigmask(SIG_BLOCK, nullptr, &after);
    CHECK(sigismember(&before, SIGUSR1) == 0);
    CHECK(sigismember(&within, SIGUSR1) == 1);
    CHECK(sigismember(&within, SIGTERM) == 1);
    CHECK(sigismember(&after, SIGUSR1) == 0);
    require_accounted(session.close(), 2);
}

TEST_CASE("a thread and a handler that block every signal are still stepped", "[libnsprobe][step]")
{
    struct sigaction action {
    };
    action.sa_handler = handler_with_slice;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, nullptr);
    test_support::ProbeSession session(kStep);
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    NET_SLICE_START(around);
    raise(SIGUSR1);
    NET_SLICE_STOP(around);
    SLICE_OF(blocked, 14);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const auto result = session.close();
    require_accounted(result, 6);
    const auto counts = net_counts(result.trace);
    CHECK(counts.at("in_handler") == 25);
    CHECK(counts.at("blocked") == 14);
}

TEST_CASE("a program started from a stepped slice by fork or spawn runs", "[libnsprobe][step]")
{
    test_support::ProbeSession session(kStep);
    int by_fork = -1, by_spawn = -1;
    NET_SLICE_START(starts);
    const pid_t child = fork();
    if (child == 0)
        _exit(5);
    waitpid(child, &by_fork, 0);
    by_spawn = std::system("exit 6");
    NET_SLICE_STOP(starts);
    CHECK(WEXITSTATUS(by_fork) == 5);
    CHECK(WIFEXITED(by_spawn));
    CHECK(WEXITSTATUS(by_spawn) == 6);
    require_accounted(session.close(), 2);
}

namespace
{
volatile sig_atomic_t own_traps;

// Some hypervisors restart an int1 again and again.
void note_and_go_on(int, siginfo_t *, void *context)
{
    own_traps = own_traps + 1;
    greg_t &next = static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP];
    next += *reinterpret_cast<const unsigned char *>(next) == 0xf1;
}
} // namespace

TEST_CASE("traps that are not the library's reach the program's own handler", "[libnsprobe][step]")
{
    own_traps = 0;
    signal(SIGTRAP, [](int) { own_traps = own_traps + 1; });
    {
        test_support::ProbeSession session(kStep);
        raise(SIGTRAP);
        CHECK(own_traps == 1);
        __asm__ volatile("int3");
        CHECK(own_traps == 2);
        SLICE_OF(work, 10);
        CHECK(net_counts(session.close().trace).at("work") == 10);
        CHECK(own_traps == 2);
    }
    // A program that takes the signal back between two sessions does not break the second one.
    signal(SIGTRAP, [](int) { own_traps = own_traps + 100; });
    test_support::ProbeSession session(kStep);
    SLICE_OF(work, 10);
    CHECK(net_counts(session.close().trace).at("work") == 10);
    CHECK(own_traps == 2);
}

TEST_CASE("a trap whose cause the hypervisor lost is a step, an int1 instruction is the program's",
          "[libnsprobe][step]")
{
    own_traps = 0;
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = note_and_go_on;
    sigaction(SIGTRAP, &action, nullptr);
    test_support::ProbeSession session(kStep);
    siginfo_t as_lost{};
    as_lost.si_signo = SIGTRAP;
    as_lost.si_code = TRAP_BRKPT;
    NET_SLICE_START(loses);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &as_lost);
    NET_SLICE_STOP(loses);
    CHECK(own_traps == 0);
    NET_SLICE_START(own);
    NOPS(5);
    __asm__ volatile(".byte 0xf1");
    NOPS(5);
    NET_SLICE_STOP(own);
    CHECK(own_traps == 1);
    SLICE_OF(after, 12);
    const auto result = session.close();
    require_accounted(result, 6);
    CHECK(net_counts(result.trace).at("after") == 12);
}
