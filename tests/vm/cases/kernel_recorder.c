/* SPDX-License-Identifier: MIT */
/*
 * kernel_recorder GROUPS MILLISECONDS [OPTION ...]: records the kernel for this time, as a trace on
 * standard output. Options: pid=N, port=N, ring=BYTES, ordered, counter=NAME:TYPE:CONFIG:CONFIG1,
 * slices=RULES.
 * With `-- PROGRAM ARGUMENT ...` at the end: until the program has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nslice/control.h>

static struct nslice_kernel_counter counters[NSLICE_MAX_COUNTERS];
static struct nslice_kernel_request request = {.size = sizeof(request),
                                               .flags = NSLICE_KERNEL_WHOLE};

static int add_counter(const char *text)
{
    struct nslice_kernel_counter *counter = &counters[request.counters_count];
    unsigned long long config = 0, config1 = 0;

    if (request.counters_count == NSLICE_MAX_COUNTERS ||
        sscanf(text, "%39[^:]:%u:%llx:%llx", counter->name, &counter->type, &config, &config1) < 3)
        return -1;
    counter->config = config;
    counter->config1 = config1;
    ++request.counters_count;
    request.counters = (__u64)(unsigned long)counters;
    return 0;
}

static void take_slices(const char *rules)
{
    request.slices = (__u64)(unsigned long)rules;
    request.slices_bytes = (__u32)strlen(rules);
}

static int take_option(const char *option)
{
    if (strcmp(option, "ordered") == 0)
        request.flags |= NSLICE_KERNEL_ORDERED;
    else if (strncmp(option, "pid=", 4) == 0)
        request.pid = (__u32)atoi(option + 4);
    else if (strncmp(option, "port=", 5) == 0)
        request.port = (__u32)atoi(option + 5);
    else if (strncmp(option, "ring=", 5) == 0)
        request.ring_bytes = (__u64)atoll(option + 5);
    else if (strncmp(option, "counter=", 8) == 0)
        return add_counter(option + 8);
    else if (strncmp(option, "slices=", 7) == 0)
        take_slices(option + 7);
    else
        return -1;
    return 0;
}

static int copy_until_end(int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    char bytes[65536];
    ssize_t count = 0;

    if (ioctl(fd, NSLICE_IOC_END))
        return 1;
    while (poll(&readable, 1, -1) == 1 && (count = read(fd, bytes, sizeof(bytes))) > 0)
        if (write(STDOUT_FILENO, bytes, (size_t)count) != count)
            return 1;
    return count != 0;
}

/* The program writes to standard error, because standard output is the trace. */
static int wait_for(char **program)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execvp(program[0], program);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    int fd = open(NSLICE_DEVICE, O_RDWR | O_CLOEXEC), at = 3, failed;

    while (at < argc && strcmp(argv[at], "--") != 0 && take_option(argv[at]) == 0)
        ++at;
    if (argc < 3 || fd < 0 || (at < argc && strcmp(argv[at], "--") != 0) || at == argc - 1) {
        fprintf(stderr, "usage: kernel_recorder GROUPS MILLISECONDS [OPTION ...] [-- PROGRAM ...], "
                        "with nsmod loaded\n");
        return 2;
    }
    request.groups = (__u64)(unsigned long)argv[1];
    request.groups_bytes = (__u32)strlen(argv[1]);
    if (ioctl(fd, NSLICE_IOC_KERNEL, &request)) {
        fprintf(stderr, "kernel_recorder: %s (%s)\n", strerror(errno), strerrorname_np(errno));
        return 1;
    }
    failed = at < argc ? wait_for(&argv[at + 1]) : poll(NULL, 0, atoi(argv[2])) != 0;
    return copy_until_end(fd) || failed;
}
