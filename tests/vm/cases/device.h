/* SPDX-License-Identifier: MIT */
/* The device as used by the programs in guests, without libnsprobe: open files with a role, rows of
 * expected results. */
#ifndef NETSLICE_VM_DEVICE_H
#define NETSLICE_VM_DEVICE_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nslice/control.h>
#include <nslice/session.h>

enum role { FRESH, SESSION, READER, KERNEL };

static inline int open_device(int flags)
{
    const int fd = open(NSLICE_DEVICE, flags | O_CLOEXEC);

    if (fd < 0) {
        perror(NSLICE_DEVICE);
        exit(2);
    }
    return fd;
}

static inline void must(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(2);
}

/* Returns the memory's size and number of rings in *answer. */
static inline int open_session(uint64_t ring_bytes, uint32_t flags,
                               struct nslice_session_request *answer)
{
    const int fd = open_device(O_RDWR);

    *answer = (struct nslice_session_request){
        .size = sizeof(*answer), .flags = flags, .ring_bytes = ring_bytes};
    must(ioctl(fd, NSLICE_IOC_SESSION, answer), "session");
    return fd;
}

static inline int open_as(enum role role)
{
    struct nslice_session_request session;
    struct nslice_reader_request reader = {.size = sizeof(reader)};
    struct nslice_kernel_request kernel = {.size = sizeof(kernel)};
    int fd;

    if (role == SESSION)
        return open_session(65536, NSLICE_SESSION_DRAINED, &session);
    fd = open_device(O_RDWR | O_NONBLOCK);
    if (role == READER)
        must(ioctl(fd, NSLICE_IOC_READER, &reader), "reader");
    if (role == KERNEL)
        must(ioctl(fd, NSLICE_IOC_KERNEL, &kernel), "kernel");
    return fd;
}

/* The complete memory of a session. */
static inline void *map_session(int fd, uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    must(memory == MAP_FAILED, "mmap");
    return memory;
}

static inline struct nslice_ring_meta *ring_of(void *memory, uint64_t ring_bytes, uint32_t cpu)
{
    return (void *)((char *)memory + NSLICE_SESSION_RING_OFFSET(cpu, ring_bytes));
}

static inline uint64_t *data_of(struct nslice_ring_meta *ring)
{
    return (uint64_t *)((char *)ring + NSLICE_RING_META_BYTES);
}

/* What libnsprobe fills in before it announces itself. */
static inline void fill_session(void *memory, const struct nslice_session_request *session,
                                uint32_t full)
{
    struct nslice_session *header = memory;

    *header = (struct nslice_session){.magic = NSLICE_SESSION_MAGIC,
                                      .version = NSLICE_SESSION_VERSION,
                                      .cpus = session->cpus,
                                      .full = full,
                                      .ring_bytes = session->ring_bytes,
                                      .ring_kind = NSLICE_RING_RSEQ};
    for (uint32_t cpu = 0; cpu < session->cpus; ++cpu) {
        struct nslice_ring_meta *ring = ring_of(memory, session->ring_bytes, cpu);

        *ring = (struct nslice_ring_meta){.magic = NSLICE_RING_MAGIC,
                                          .abi_version = NSLICE_ABI_VERSION,
                                          .kind = NSLICE_RING_RSEQ,
                                          .cpu = cpu,
                                          .full = full,
                                          .data_bytes = session->ring_bytes};
        ring->limit = (uint32_t)(session->ring_bytes / NSLICE_WORD_BYTES);
        ring->mask = ring->limit - 1;
    }
    __atomic_store_n(&header->joined, 1, __ATOMIC_RELEASE);
}

/* Rows: the attempt, the result, the expected result. */
static int rows, failures;

static inline void expect(const char *what, long result, int wanted_errno)
{
    const int got = result < 0 ? errno : 0;

    ++rows;
    if (got == wanted_errno)
        return;
    ++failures;
    printf("FAILED %s: %s instead of %s\n", what, got ? strerrorname_np(got) : "success",
           wanted_errno ? strerrorname_np(wanted_errno) : "success");
}

static inline int tell_rows(const char *name)
{
    printf("%s: %d rows, %d failed\n", name, rows, failures);
    return failures ? 1 : 0;
}

#endif /* NETSLICE_VM_DEVICE_H */
