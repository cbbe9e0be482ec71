/* SPDX-License-Identifier: MIT */
/* misuse: every invalid request, on files of every role; each row has the expected answer of the
 * device. */
#define _GNU_SOURCE
#include <poll.h>

#include <nslice/rules.h>

#include "device.h"

static const char *const role_names[] = {"fresh", "session", "reader", "kernel"};

/* A request that is zero except for its size and one field. */
struct row {
    const char *what;
    unsigned long command;
    uint32_t size;
    uint32_t offset, bytes; /* of the field; bytes 0: none */
    uint64_t value;
    int wanted;
    enum role role;
};

#define FIELD(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define VERSION_BYTES sizeof(struct nslice_version_request)
#define SESSION_BYTES sizeof(struct nslice_session_request)
#define READER_BYTES sizeof(struct nslice_reader_request)
#define LIST_BYTES sizeof(struct nslice_list_request)
#define KERNEL_BYTES sizeof(struct nslice_kernel_request)
#define SLICES_BYTES sizeof(struct nslice_slices_request)
#define TEXT_BYTES sizeof(struct nslice_text_request)

static const struct row table[] = {
    {"version, size 0", NSLICE_IOC_VERSION, 0, 0, 0, 0, EINVAL, FRESH},
    {"version, size 7", NSLICE_IOC_VERSION, 7, 0, 0, 0, EINVAL, FRESH},
    {"version, size 8", NSLICE_IOC_VERSION, 8, 0, 0, 0, 0, FRESH},
    {"version", NSLICE_IOC_VERSION, VERSION_BYTES, 0, 0, 0, 0, FRESH},
    {"version of a session", NSLICE_IOC_VERSION, VERSION_BYTES, 0, 0, 0, 0, SESSION},
    {"version of a reader", NSLICE_IOC_VERSION, VERSION_BYTES, 0, 0, 0, 0, READER},
    {"version, trailing zeros", NSLICE_IOC_VERSION, VERSION_BYTES + 8, 0, 0, 0, 0, FRESH},
    {"version, 4096 bytes of zeros", NSLICE_IOC_VERSION, 4096, 0, 0, 0, 0, FRESH},
    {"version, the last byte set", NSLICE_IOC_VERSION, 4096, 4095, 1, 1, E2BIG, FRESH},
    {"version, one byte above the limit", NSLICE_IOC_VERSION, 4097, 0, 0, 0, EINVAL, FRESH},
    {"version, the largest size", NSLICE_IOC_VERSION, UINT32_MAX, 0, 0, 0, EINVAL, FRESH},
    {"version, nonzero tail", NSLICE_IOC_VERSION, VERSION_BYTES + 8, VERSION_BYTES, 8, 1, E2BIG,
     FRESH},
    {"version, flags", NSLICE_IOC_VERSION, VERSION_BYTES, FIELD(nslice_version_request, flags), 1,
     EINVAL, FRESH},

    {"session, size 0", NSLICE_IOC_SESSION, 0, 0, 0, 0, EINVAL, FRESH},
    {"session, no ring", NSLICE_IOC_SESSION, SESSION_BYTES, 0, 0, 0, EINVAL, FRESH},
    {"session, only size and flags", NSLICE_IOC_SESSION, 8, 0, 0, 0, EINVAL, FRESH},
    {"session, ring 1", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 1, EINVAL, FRESH},
    {"session, ring 2048", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 2048, EINVAL, FRESH},
    {"session, ring 4096", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 4096, 0, FRESH},
    {"session, ring 12288", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 12288, EINVAL, FRESH},
    {"session, ring 8 GiB", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 8ull << 30, 0, FRESH},
    {"session, ring 16 GiB", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 16ull << 30, EINVAL, FRESH},
    {"session, ring 2^63", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 1ull << 63, EINVAL, FRESH},
    {"session, ring ~0", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), ~0ull, EINVAL, FRESH},
    {"session, unknown flag", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, flags), 2, EINVAL, FRESH},
    {"session, nonzero tail", NSLICE_IOC_SESSION, SESSION_BYTES + 8, SESSION_BYTES + 4, 4, 1, E2BIG,
     FRESH},
    {"session of a session", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 4096, EBADFD, SESSION},
    {"session of a reader", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 4096, EBADFD, READER},
    {"session of the kernel's recorder", NSLICE_IOC_SESSION, SESSION_BYTES,
     FIELD(nslice_session_request, ring_bytes), 4096, EBADFD, KERNEL},

    {"reader, size 4", NSLICE_IOC_READER, 4, 0, 0, 0, EINVAL, FRESH},
    {"reader, unknown flag", NSLICE_IOC_READER, READER_BYTES, FIELD(nslice_reader_request, flags),
     2, EINVAL, FRESH},
    {"reader, reserved", NSLICE_IOC_READER, READER_BYTES, FIELD(nslice_reader_request, reserved), 1,
     EINVAL, FRESH},
    {"reader, snapshot of any", NSLICE_IOC_READER, READER_BYTES,
     FIELD(nslice_reader_request, flags), NSLICE_READER_SNAPSHOT, EINVAL, FRESH},
    {"reader of a nonexistent session", NSLICE_IOC_READER, READER_BYTES,
     FIELD(nslice_reader_request, session), UINT32_MAX, ENOENT, FRESH},
    {"reader, nonzero tail", NSLICE_IOC_READER, READER_BYTES + 8, READER_BYTES, 1, 1, E2BIG, FRESH},
    {"reader of a session's file", NSLICE_IOC_READER, READER_BYTES, 0, 0, 0, EBADFD, SESSION},
    {"reader of a reader", NSLICE_IOC_READER, READER_BYTES, 0, 0, 0, EBADFD, READER},
    {"reader of the kernel's recorder", NSLICE_IOC_READER, READER_BYTES, 0, 0, 0, EBADFD, KERNEL},

    {"kernel, size 0", NSLICE_IOC_KERNEL, 0, 0, 0, 0, EINVAL, FRESH},
    {"kernel, unknown flag", NSLICE_IOC_KERNEL, KERNEL_BYTES, FIELD(nslice_kernel_request, flags),
     1u << 31, EINVAL, FRESH},
    {"kernel, policy 2", NSLICE_IOC_KERNEL, KERNEL_BYTES, FIELD(nslice_kernel_request, full), 2,
     EINVAL, FRESH},
    {"kernel, too many counters", NSLICE_IOC_KERNEL, KERNEL_BYTES,
     FIELD(nslice_kernel_request, counters_count), NSLICE_MAX_COUNTERS + 1, EINVAL, FRESH},
    {"kernel, ring 4095", NSLICE_IOC_KERNEL, KERNEL_BYTES, FIELD(nslice_kernel_request, ring_bytes),
     4095, EINVAL, FRESH},
    {"kernel, ring ~0", NSLICE_IOC_KERNEL, KERNEL_BYTES, FIELD(nslice_kernel_request, ring_bytes),
     ~0ull, EINVAL, FRESH},
    {"kernel, ring larger than memory", NSLICE_IOC_KERNEL, KERNEL_BYTES,
     FIELD(nslice_kernel_request, ring_bytes), 4ull << 30, ENOMEM, FRESH},
    {"kernel, after that", NSLICE_IOC_KERNEL, KERNEL_BYTES, 0, 0, 0, 0, FRESH},
    {"kernel, port 65536", NSLICE_IOC_KERNEL, KERNEL_BYTES, FIELD(nslice_kernel_request, port),
     65536, EINVAL, FRESH},
    {"kernel, protocol without port", NSLICE_IOC_KERNEL, KERNEL_BYTES,
     FIELD(nslice_kernel_request, protocol), 6, EINVAL, FRESH},
    {"kernel, reserved", NSLICE_IOC_KERNEL, KERNEL_BYTES, FIELD(nslice_kernel_request, reserved), 1,
     EINVAL, FRESH},
    {"kernel, rules of the most bytes", NSLICE_IOC_KERNEL, KERNEL_BYTES,
     FIELD(nslice_kernel_request, slices_bytes), NSLICE_RULES_TEXT, EINVAL, FRESH},
    {"kernel, rules at an invalid address", NSLICE_IOC_KERNEL, KERNEL_BYTES,
     FIELD(nslice_kernel_request, slices_bytes), NSLICE_RULES_TEXT - 1, EFAULT, FRESH},
    {"kernel, long names", NSLICE_IOC_KERNEL, KERNEL_BYTES,
     FIELD(nslice_kernel_request, groups_bytes), 256, EINVAL, FRESH},
    {"kernel, names at an invalid address", NSLICE_IOC_KERNEL, KERNEL_BYTES,
     FIELD(nslice_kernel_request, groups_bytes), 6, EFAULT, FRESH},
    {"kernel, nonzero tail", NSLICE_IOC_KERNEL, KERNEL_BYTES + 8, KERNEL_BYTES, 8, 1, E2BIG, FRESH},
    {"kernel of a session's file", NSLICE_IOC_KERNEL, KERNEL_BYTES, 0, 0, 0, EBADFD, SESSION},
    {"kernel of a reader", NSLICE_IOC_KERNEL, KERNEL_BYTES, 0, 0, 0, EBADFD, READER},
    {"kernel of the kernel's recorder", NSLICE_IOC_KERNEL, KERNEL_BYTES, 0, 0, 0, EBADFD, KERNEL},

    {"slices, size 0", NSLICE_IOC_SLICES, 0, 0, 0, 0, EINVAL, KERNEL},
    {"slices, flags", NSLICE_IOC_SLICES, SLICES_BYTES, FIELD(nslice_slices_request, flags), 1,
     EINVAL, KERNEL},
    {"slices, reserved", NSLICE_IOC_SLICES, SLICES_BYTES, FIELD(nslice_slices_request, reserved), 1,
     EINVAL, KERNEL},
    {"slices, too many bytes", NSLICE_IOC_SLICES, SLICES_BYTES,
     FIELD(nslice_slices_request, slices_bytes), UINT32_MAX, EINVAL, KERNEL},
    {"slices at an invalid address", NSLICE_IOC_SLICES, SLICES_BYTES,
     FIELD(nslice_slices_request, slices_bytes), 6, EFAULT, KERNEL},
    {"slices, nonzero tail", NSLICE_IOC_SLICES, SLICES_BYTES + 8, SLICES_BYTES, 8, 1, E2BIG,
     KERNEL},
    {"slices of the kernel's recorder: all", NSLICE_IOC_SLICES, SLICES_BYTES, 0, 0, 0, 0, KERNEL},
    {"slices of a file without a role", NSLICE_IOC_SLICES, SLICES_BYTES, 0, 0, 0, EBADFD, FRESH},
    {"slices of a session's file", NSLICE_IOC_SLICES, SLICES_BYTES, 0, 0, 0, EBADFD, SESSION},
    {"slices of a reader", NSLICE_IOC_SLICES, SLICES_BYTES, 0, 0, 0, EBADFD, READER},

    {"list, flags", NSLICE_IOC_LIST, LIST_BYTES, FIELD(nslice_list_request, flags), 1, EINVAL,
     FRESH},
    {"list, no room", NSLICE_IOC_LIST, LIST_BYTES, 0, 0, 0, 0, SESSION},
    {"list, huge room at an invalid address", NSLICE_IOC_LIST, LIST_BYTES,
     FIELD(nslice_list_request, room), UINT32_MAX, EFAULT, SESSION},
    {"list, nonzero tail", NSLICE_IOC_LIST, LIST_BYTES + 1, LIST_BYTES, 1, 1, E2BIG, FRESH},
    {"groups, flags", NSLICE_IOC_GROUPS, TEXT_BYTES, FIELD(nslice_text_request, flags), 1, EINVAL,
     FRESH},
    {"groups, no room", NSLICE_IOC_GROUPS, TEXT_BYTES, 0, 0, 0, 0, FRESH},
    {"groups, huge room at an invalid address", NSLICE_IOC_GROUPS, TEXT_BYTES,
     FIELD(nslice_text_request, room), UINT32_MAX, EFAULT, FRESH},
    {"end of a file without a role", NSLICE_IOC_END, 0, 0, 0, 0, EBADFD, FRESH},
    {"end of a session", NSLICE_IOC_END, 0, 0, 0, 0, 0, SESSION},
    {"end of a reader", NSLICE_IOC_END, 0, 0, 0, 0, 0, READER},
    {"end of the kernel's recorder", NSLICE_IOC_END, 0, 0, 0, 0, 0, KERNEL},
};

static void try_table(void)
{
    static unsigned char request[8192];

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i) {
        const struct row *row = &table[i];
        const int fd = open_as(row->role);

        memset(request, 0, sizeof(request));
        memcpy(request, &row->size, sizeof(row->size));
        memcpy(request + row->offset, &row->value, row->bytes);
        expect(row->what, ioctl(fd, row->command, request), row->wanted);
        close(fd);
    }
}

static void try_unknown_commands(void)
{
    static unsigned char request[1 << 14];
    char what[64];

    for (enum role role = FRESH; role <= KERNEL; ++role) {
        const int fd = open_as(role);

        for (unsigned direction = 0; direction < 4; ++direction)
            for (unsigned number = 7; number < 256; ++number) {
                snprintf(what, sizeof(what), "%s: command %u, direction %u", role_names[role],
                         number, direction);
                expect(what, ioctl(fd, _IOC(direction, NSLICE_IOC_MAGIC, number, 64), request),
                       ENOTTY);
            }
        /* known numbers with another size, and another magic, are unknown */
        for (unsigned number = 0; number < 7; ++number) {
            snprintf(what, sizeof(what), "%s: command %u of 8 bytes", role_names[role], number);
            expect(what,
                   ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, NSLICE_IOC_MAGIC, number, 8), request),
                   ENOTTY);
            expect("another magic",
                   ioctl(fd, _IOWR(0xbc, number, struct nslice_session_request), request), ENOTTY);
        }
        close(fd);
    }
}

/* Requests in unmapped or partly mapped memory. */
static void try_bad_pointers(void)
{
    static const unsigned long commands[] = {NSLICE_IOC_VERSION, NSLICE_IOC_SESSION,
                                             NSLICE_IOC_READER,  NSLICE_IOC_LIST,
                                             NSLICE_IOC_KERNEL,  NSLICE_IOC_GROUPS};
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *edge = page + 4096 - 8; /* size and flags are mapped, the rest is not */

    must(munmap(page + 4096, 4096), "munmap");
    *(uint32_t *)edge = 72;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); ++i) {
        const int fd = open_as(FRESH);

        expect("no request", ioctl(fd, commands[i], NULL), EFAULT);
        expect("a request in the kernel's memory",
               ioctl(fd, commands[i], (void *)0xffff888000000000ul), EFAULT);
        expect("the last address", ioctl(fd, commands[i], (void *)-1ul), EFAULT);
        expect("a request across the end of a mapping", ioctl(fd, commands[i], edge), EFAULT);
        must(mprotect(page, 4096, PROT_READ), "mprotect");
        *(volatile char *)page;
        expect("a request in read-only memory", ioctl(fd, NSLICE_IOC_VERSION, page),
               EINVAL); /* of size 0 */
        must(mprotect(page, 4096, PROT_READ | PROT_WRITE), "mprotect");
        close(fd);
    }
    munmap(page, 4096);
}

struct file_row {
    enum role role;
    int read, seek, map, truncate;
    short events; /* of a poll */
};

/* Calls that have no meaning for a role. */
static void try_files(void)
{
    static const struct file_row files[] = {
        {FRESH, EAGAIN, ESPIPE, EBADFD, EINVAL, 0},
        {SESSION, EBADFD, ESPIPE, 0, EINVAL, POLLERR},
        {READER, EAGAIN, ESPIPE, EBADFD, EINVAL, 0},
        {KERNEL, 0, ESPIPE, EBADFD, EINVAL, POLLIN},
    };
    char bytes[64], *volatile nowhere = (char *)8;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        const struct file_row *row = &files[i];
        const int fd = open_as(row->role);
        struct pollfd polled = {.fd = fd, .events = POLLIN};
        void *mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

        expect(role_names[row->role], mapped == MAP_FAILED ? -1 : 0, row->map);
        if (mapped != MAP_FAILED)
            munmap(mapped,
                   4096); /* otherwise the session stays alive, and a reader would find it */
        expect("write", write(fd, bytes, sizeof(bytes)), EINVAL);
        expect("lseek", lseek(fd, 0, SEEK_SET), row->seek);
        expect("pread", pread(fd, bytes, sizeof(bytes), 0), ESPIPE);
        expect("pwrite", pwrite(fd, bytes, sizeof(bytes), 0), ESPIPE);
        expect("ftruncate", ftruncate(fd, 0), row->truncate);
        expect("fsync", fsync(fd), EINVAL);
        if (row->role == KERNEL)
            poll(&polled, 1, 5000); /* its first output takes a while */
        else
            poll(&polled, 1, 0);
        errno = EPROTO;
        expect("poll", (polled.revents & (POLLIN | POLLERR)) == row->events ? 0 : -1, 0);
        expect(role_names[row->role], read(fd, bytes, sizeof(bytes)), row->read);
        if (row->role == KERNEL)
            expect("read to an invalid address", read(fd, nowhere, sizeof(bytes)), EFAULT);
        expect("read of zero bytes", row->role == SESSION ? 0 : read(fd, bytes, 0), 0);
        close(fd);
    }
}

static void try_access_modes(void)
{
    struct nslice_session_request request = {.size = sizeof(request), .ring_bytes = 4096};
    int fd = open_device(O_RDONLY);
    char byte;

    must(ioctl(fd, NSLICE_IOC_SESSION, &request), "session of a file opened for reading");
    expect("writable memory of a file opened for reading",
           mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0,
           EACCES);
    close(fd);
    fd = open_device(O_WRONLY);
    expect("read of a file opened for writing", read(fd, &byte, 1), EBADF);
    close(fd);
    expect("an ioctl of a closed file", ioctl(fd, NSLICE_IOC_END), EBADF);
}

/* One recorder of the kernel at a time; the next one after it has closed. */
static void try_two_recorders(void)
{
    struct nslice_kernel_request request = {.size = sizeof(request)};
    const int first = open_as(KERNEL), second = open_device(O_RDWR);

    expect("a second recorder of the kernel", ioctl(second, NSLICE_IOC_KERNEL, &request), EBUSY);
    close(first);
    request.groups = (uint64_t)(uintptr_t) "net_rx,,irq";
    request.groups_bytes = 11;
    expect("an empty name", ioctl(second, NSLICE_IOC_KERNEL, &request), EINVAL);
    request.groups = (uint64_t)(uintptr_t) "irq,nonsense";
    request.groups_bytes = 12;
    expect("an unknown name", ioctl(second, NSLICE_IOC_KERNEL, &request), EINVAL);
    request.groups_bytes = 3;
    expect("a known name", ioctl(second, NSLICE_IOC_KERNEL, &request), 0);
    close(second);
}

struct rules_row {
    const char *text;
    uint32_t bytes;
    int wanted;
};

static int give_rules(int fd, const struct rules_row *row)
{
    const struct nslice_slices_request request = {
        .size = sizeof(request), .slices = (uintptr_t)row->text, .slices_bytes = row->bytes};

    return ioctl(fd, NSLICE_IOC_SLICES, &request);
}

/* At the start of a recording, and while it runs; not after its end. */
static void try_rules(void)
{
#define RULES(text) text, sizeof(text) - 1
    static const struct rules_row rules[] = {
        {RULES("a*,!b"), 0},     {RULES("kernel:a"), 0},
        {RULES(","), EINVAL},    {RULES(",a"), EINVAL},
        {RULES("a,,b"), EINVAL}, {RULES("a,"), EINVAL},
        {RULES("a,!"), EINVAL},  {RULES("a\0b"), EINVAL},
        {RULES("a\nb"), EINVAL}, {RULES("[[:digit:]]"), EINVAL},
        {"a", 2, EINVAL}, /* its terminator */
    };
    const int running = open_as(KERNEL);

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i)
        expect(rules[i].text, give_rules(running, &rules[i]), rules[i].wanted);
    must(ioctl(running, NSLICE_IOC_END), "end");
    must(close(running), "close");
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) {
        const struct nslice_kernel_request request = {.size = sizeof(request),
                                                      .slices = (uintptr_t)rules[i].text,
                                                      .slices_bytes = rules[i].bytes};
        const int fd = open_device(O_RDWR);

        expect(rules[i].text, ioctl(fd, NSLICE_IOC_KERNEL, &request), rules[i].wanted);
        close(fd);
    }
}

int main(void)
{
    try_table();
    try_unknown_commands();
    try_bad_pointers();
    try_files();
    try_access_modes();
    try_two_recorders();
    try_rules();
    return tell_rows("misuse");
}
