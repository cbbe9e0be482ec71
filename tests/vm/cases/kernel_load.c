/* SPDX-License-Identifier: MIT */
/*
 * kernel_load GROUPS MILLISECONDS RING discard|overwrite read|splice|late: records the kernel for
 * this time and checks the equation of the trace.  late: nothing is read before the end, so that
 * the queue and the rings fill.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <time.h>

#include "device.h"
#include "trace.h"

#define TRACE_ROOM (256ul << 20)

static char *bytes;
static uint64_t count;

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static ssize_t take_by_splice(int fd, const int *ends)
{
    const ssize_t moved = splice(fd, NULL, ends[1], NULL, 65536, 0);
    ssize_t got = 0;

    while (got < moved) {
        const ssize_t part = read(ends[0], bytes + count + got, (size_t)(moved - got));

        must(part <= 0, "read of a pipe");
        got += part;
    }
    return moved;
}

static void take_all(int fd, uint64_t end_ms, const char *how)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    int ends[2], is_ended = 0;
    ssize_t got = 1;

    must(pipe(ends), "pipe");
    if (strcmp(how, "late") == 0)
        poll(NULL, 0, (int)(end_ms - now_ms()));
    while (got > 0) {
        if (!is_ended && now_ms() >= end_ms) {
            must(ioctl(fd, NSLICE_IOC_END), "end");
            is_ended = 1;
        }
        if (poll(&readable, 1, is_ended ? 20000 : 50) == 0) {
            must(is_ended, "no end");
            continue;
        }
        got =
            strcmp(how, "splice") == 0 ? take_by_splice(fd, ends) : read(fd, bytes + count, 65536);
        must(got < 0, how);
        count += (uint64_t)got;
        must(count > TRACE_ROOM - 131072, "trace larger than its buffer");
    }
}

int main(int argc, char **argv)
{
    struct nslice_kernel_request request = {.size = sizeof(request), .flags = NSLICE_KERNEL_WHOLE};
    const int fd = open_device(O_RDWR);
    struct trace trace;
    const char *fault;

    if (argc != 6) {
        fprintf(stderr,
                "usage: kernel_load GROUPS MILLISECONDS RING discard|overwrite read|splice|late\n");
        return 2;
    }
    bytes = map_session(open("/dev/zero", O_RDWR), TRACE_ROOM);
    request.groups = (uint64_t)(uintptr_t)argv[1];
    request.groups_bytes = (uint32_t)strlen(argv[1]);
    request.ring_bytes = strtoull(argv[3], NULL, 0);
    request.full = strcmp(argv[4], "overwrite") == 0 ? NSLICE_FULL_OVERWRITE : NSLICE_FULL_DISCARD;
    must(ioctl(fd, NSLICE_IOC_KERNEL, &request), "kernel");
    take_all(fd, now_ms() + strtoull(argv[2], NULL, 0), argv[5]);
    fault = read_trace(&trace, bytes, count);
    if (!fault && !trace.has_totals)
        fault = "no totals";
    printf("kernel %s %s: %s; %llu issued, %llu records, %llu lost\n", argv[4], argv[5],
           fault ? fault : "sound", (unsigned long long)trace.kernel.issued,
           (unsigned long long)trace.kernel.records, (unsigned long long)trace.kernel.lost);
    return fault != NULL;
}
