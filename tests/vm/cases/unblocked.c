/* SPDX-License-Identifier: MIT */
/*
 * unblocked COUNT CPU: slices with a MARK each, as fast as they can be written, by a thread that
 * stays on one CPU and is killed with its process if it makes a system call.  Then prints what the
 * kernel did to it: a thread that never enters the kernel by itself and never yields its CPU cannot
 * have been blocked, however slow the machine is.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nsprobe/probe.h>

static uint64_t count;
static int cpu, is_forbidden;
static struct rusage before, after;

/* From here on, the thread may query its resource usage and end. */
static void forbid_system_calls(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof(rules) / sizeof(*rules), .filter = rules};

    is_forbidden = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
                   !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void write_slices(uint64_t slices)
{
    for (uint64_t i = 1; i <= slices; ++i) {
        NET_SLICE_START(slice);
        NET_SLICE_MARK(number, i);
        NET_SLICE_STOP(slice);
    }
}

static void *work(void *unused)
{
    cpu_set_t own;

    CPU_ZERO(&own);
    CPU_SET((size_t)cpu, &own);
    if (sched_setaffinity(0, sizeof(own), &own))
        return unused;
    write_slices(count /
                 4); /* starting the thread and faulting in the ring's pages involve the kernel */
    forbid_system_calls();
    getrusage(RUSAGE_THREAD, &before);
    write_slices(count - count / 4);
    getrusage(RUSAGE_THREAD, &after);
    syscall(SYS_exit, 0); /* returning would make more system calls */
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    count = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    cpu = argc == 3 ? atoi(argv[2]) : 0;
    if (count < 4) {
        fprintf(stderr, "usage: unblocked COUNT CPU\n");
        return 2;
    }
    if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL) ||
        after.ru_utime.tv_sec + after.ru_utime.tv_usec == 0) {
        fprintf(stderr, "unblocked: no thread on CPU %d\n", cpu);
        return 2;
    }
    printf(
        "unblocked on CPU %d: %ld waits, %ld page faults; preempted %ld times; system calls %s\n",
        cpu, after.ru_nvcsw - before.ru_nvcsw,
        after.ru_majflt + after.ru_minflt - before.ru_majflt - before.ru_minflt,
        after.ru_nivcsw - before.ru_nivcsw,
        is_forbidden ? "were forbidden" : "cannot be forbidden by this kernel");
    return 0;
}
