# SPDX-License-Identifier: MIT
# Programs with known numbers of calls and known work, and how they are built.  CALLS, LEAVES,
# BUSY_CALLS and BUSY_NS are defined on the command line.
import os
import pathlib
import subprocess
import tempfile
import unittest

NSDUMP = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsdump"
CALLS = 1000
BUSY_CALLS, BUSY_NS = 400, 20000
LEAVES = 5

C_SOURCE = r"""
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noipa))
#endif
static volatile long sink;
static jmp_buf back;

static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}
ALONE void leaf(int x) { sink += x; }
ALONE int fib(int n)
{
    if (n < 2) return n;
    int first = fib(n - 1);
    sink += first;
    int second = fib(n - 2);
    sink += second;
    return first + second;
}
ALONE int deep(int n) { int below = n == 0 ? 0 : deep(n - 1); sink += below; return below + 1; }
ALONE void busy(void) { long end = now_ns() + BUSY_NS; while (now_ns() < end); }
ALONE void around(void) { for (int i = 0; i < LEAVES; ++i) leaf(i); busy(); }
ALONE void jumps(int x) { sink += x; longjmp(back, 1); }
ALONE void catches(int x) { if (setjmp(back) == 0) jumps(x); sink += x; }
ALONE int last(int x) { sink += x; return x; }
ALONE int tail(int x) { sink += x; return last(x + 1); }

static void *thread(void *argument)
{
    for (int i = 0; i < CALLS; ++i) leaf(i);
    return argument;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "leaf";
    if (!strcmp(what, "leaf")) thread(NULL);
    if (!strcmp(what, "fib")) printf("%d\n", fib(12));
    if (!strcmp(what, "deep")) printf("%d\n", deep(atoi(argv[2])));
    if (!strcmp(what, "jumps")) for (int i = 0; i < CALLS; ++i) catches(i);
    if (!strcmp(what, "tail")) for (int i = 0; i < CALLS; ++i) tail(i);
    if (!strcmp(what, "fork")) {
        if (fork() == 0) { thread(NULL); _exit(0); }
        thread(NULL);
        sleep(1);
    }
    if (!strcmp(what, "threads")) {
        pthread_t all[4];
        for (int i = 0; i < 4; ++i) pthread_create(&all[i], NULL, thread, NULL);
        for (int i = 0; i < 4; ++i) pthread_join(all[i], NULL);
    }
    if (!strcmp(what, "around")) {
        for (int i = 0; i < BUSY_CALLS; ++i) {
            long begin = now_ns();
            around();
            printf("%ld\n", now_ns() - begin);
        }
    }
    if (!strcmp(what, "forever")) for (;;) { leaf(1); usleep(1000); }
    return 0;
}
"""

CPP_SOURCE = r"""
#include <vector>
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noipa))
#endif
namespace shapes {
static volatile long sink;
template <class T> ALONE void add(std::vector<T> &all, T one)
{
    all.push_back(one);
    sink = all.size();
}
struct Square {
    ALONE int area(int side) const { sink += side; return side * side; }
    ALONE double area(double side) const { sink += 1; return side * side; }
};
} // namespace shapes
int main()
{
    std::vector<int> all;
    shapes::Square square;
    double sum = 0;
    for (int i = 0; i < CALLS; ++i) {
        shapes::add(all, i);
        sum += square.area(i) + square.area(0.5);
        sum += square.area(1.5);
    }
    return sum < 0;
}
"""

THROWING_SOURCE = r"""
#include <stdexcept>
__attribute__((noinline)) void throws(int x) { if (x >= 0) throw std::runtime_error("x"); }
__attribute__((noinline)) int guarded(int x)
{
    try { throws(x); } catch (const std::runtime_error &) { return 1; }
    return 0;
}
int main()
{
    int caught = 0;
    for (int i = 0; i < CALLS; ++i) caught += guarded(i);
    return caught != CALLS;
}
"""

PROBED_SOURCE = r"""
#include <nsprobe/probe.h>
#include <time.h>
static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}
__attribute__((noinline, noipa)) void parse(void)
{
    long end = now_ns() + BUSY_NS;
    while (now_ns() < end);
}
int main(void)
{
    for (int i = 0; i < BUSY_CALLS; ++i) {
        NET_SLICE_INIT(packet, i, 1, 100);
        NET_SLICE_START(work);
        parse();
        NET_SLICE_STOP(work);
        NET_SLICE_EXIT(packet);
    }
    return 0;
}
"""

# Refuses links for many uprobes, as kernels do that do not know them.
WITHOUT_LINKS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

long refuse(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

long refuse(long number, long a, long b, long c, long d, long e, long f)
{
    static long (*next)(long, long, long, long, long, long, long);

    if (!next)
        next = (long (*)(long, long, long, long, long, long, long))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_bpf && a == 28 && ((const uint32_t *)b)[2] == 48) { /* BPF_LINK_CREATE */
        close(open(getenv("REFUSED"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        errno = EINVAL;
        return -1;
    }
    return next(number, a, b, c, d, e, f);
}
"""


def run(*words, **options):
    return subprocess.run(
        [*map(str, words)], capture_output=True, text=True, check=False, timeout=120, **options
    )


class ProgramsTest(unittest.TestCase):
    """Builds programs in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="netslice-functions-")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.folder.chmod(0o755)

    def build(self, name, source, compiler, *options):
        program = self.folder / name
        if program.exists():
            return program
        file = self.folder / (name + (".cpp" if "++" in compiler else ".c"))
        file.write_text(source)
        numbers = [
            f"-D{one}={globals()[one]}" for one in ("CALLS", "BUSY_CALLS", "BUSY_NS", "LEAVES")
        ]
        done = run(compiler, "-O2", *numbers, *options, file, "-o", program, "-pthread")
        self.assertEqual(done.returncode, 0, done.stderr)
        return program
