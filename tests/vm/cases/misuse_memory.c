/* SPDX-License-Identifier: MIT */
/* misuse_memory: a session's memory mapped, changed, truncated and passed on in every invalid way;
 * its reader still finishes. */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "device.h"

#define RING_BYTES 65536ull

static struct nslice_session_request session;

struct map_row {
    const char *what;
    uint64_t offset, bytes;
    int protection, flags, wanted;
};

static void try_maps(int fd)
{
    const uint64_t all = session.memory_bytes;
    const int both = PROT_READ | PROT_WRITE;
    const struct map_row table[] = {
        {"the whole", 0, all, both, MAP_SHARED, 0},
        {"the whole again", 0, all, both, MAP_SHARED, 0},
        {"read-only", 0, all, PROT_READ, MAP_SHARED, 0},
        {"without access", 0, all, PROT_NONE, MAP_SHARED, 0},
        {"a page", 4096, 4096, both, MAP_SHARED, 0},
        {"the last page", all - 4096, 4096, both, MAP_SHARED, 0},
        {"touched at once", 0, 8192, both, MAP_SHARED | MAP_POPULATE, 0},
        {"nothing", 0, 0, both, MAP_SHARED, EINVAL},
        {"a page beyond the end", all, 4096, both, MAP_SHARED, EINVAL},
        {"over the end", all - 4096, 8192, both, MAP_SHARED, EINVAL},
        {"all from the second page on", 4096, all, both, MAP_SHARED, EINVAL},
        {"far beyond the end", 1ull << 62, 4096, both, MAP_SHARED, EINVAL},
        {"an unaligned offset", 100, 4096, both, MAP_SHARED, EINVAL},
        {"for execution", 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, EINVAL},
        {"private", 0, 4096, both, MAP_PRIVATE, EINVAL},
        {"private, read-only", 0, 4096, PROT_READ, MAP_PRIVATE, EINVAL},
        {"huge pages", 0, 2 << 20, both, MAP_SHARED | MAP_HUGETLB, EINVAL},
        {"synchronous", 0, 4096, both, MAP_SHARED_VALIDATE | MAP_SYNC, EOPNOTSUPP},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i) {
        const struct map_row *row = &table[i];
        void *mapped = mmap(NULL, row->bytes, row->protection, row->flags, fd, (off_t)row->offset);

        expect(row->what, mapped == MAP_FAILED ? -1 : 0, row->wanted);
        if (mapped != MAP_FAILED)
            munmap(mapped, row->bytes);
    }
}

/* The signal that ended a child, or 0. */
static int signal_of_child(void (*act)(char *), char *memory)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        act(memory);
        _exit(0);
    }
    must(waitpid(child, &status, 0) != child, "waitpid");
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void write_byte(char *memory)
{
    *(volatile char *)memory = 1;
}

static void try_changes(int fd)
{
    const uint64_t all = session.memory_bytes;
    char *memory = map_session(fd, all), *meta = (char *)ring_of(memory, RING_BYTES, 0), *grown;

    expect("mprotect for execution", mprotect(memory, 4096, PROT_READ | PROT_EXEC), EACCES);
    expect("mprotect none", mprotect(memory, all, PROT_NONE), 0);
    expect("mprotect back", mprotect(memory, all, PROT_READ | PROT_WRITE), 0);
    grown = mremap(memory, all, all + 4096, MREMAP_MAYMOVE);
    expect("mremap over the end", grown == MAP_FAILED ? -1 : 0, 0);
    if (grown != MAP_FAILED)
        memory = grown;
    meta = (char *)ring_of(memory, RING_BYTES, 0);
    expect("a byte beyond the end kills the process that touches it",
           signal_of_child(write_byte, memory + all) == SIGBUS ? 0 : -1, 0);
    expect("mremap back", mremap(memory, all + 4096, all, 0) == MAP_FAILED ? -1 : 0, 0);
    expect("mlock", mlock(memory, 8192), 0);
    expect("munlock", munlock(memory, 8192), 0);
    expect("DONTNEED", madvise(memory, all, MADV_DONTNEED), 0);
    expect("DONTFORK", madvise(memory, all, MADV_DONTFORK), 0);
    expect("a child without the mapping", signal_of_child(write_byte, memory) == SIGSEGV ? 0 : -1,
           0);
    expect("DOFORK", madvise(memory, all, MADV_DOFORK), 0);
    expect("a child with the mapping", signal_of_child(write_byte, memory), 0);
    expect("holes in the meta pages", madvise(meta, 4096, MADV_REMOVE), 0);
    expect("holes everywhere", madvise(memory, all, MADV_REMOVE), 0);
    memset(meta, 0xff, 4096);
    expect("a hole in the middle of the mapping",
           munmap(memory + 4096, NSLICE_SESSION_ANNOUNCE_BYTES), 0);
    munmap(memory, all);
}

/* Root can open the memory file itself through /proc. */
static int open_memory_file(const char *memory, uint64_t bytes)
{
    char path[96];

    snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)memory,
             (unsigned long)(memory + bytes));
    return open(path, O_RDWR);
}

/* Reads until the end; 0 if the end came within ten seconds. */
static int read_to_end(int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    char bytes[4096];
    ssize_t got;

    do {
        if (poll(&readable, 1, 10000) != 1) {
            errno = ETIMEDOUT;
            return -1;
        }
        got = read(fd, bytes, sizeof(bytes));
    } while (got > 0);
    return (int)got;
}

static int open_reader(uint32_t id, uint32_t flags)
{
    struct nslice_reader_request request = {.size = sizeof(request), .session = id, .flags = flags};
    const int fd = open_device(O_RDWR);

    must(ioctl(fd, NSLICE_IOC_READER, &request), "reader");
    return fd;
}

/* Memory truncated under a reader is gone; the trace ends with or without its footer. */
static void try_cut(void)
{
    struct nslice_session_request cut;
    const int fd = open_session(RING_BYTES, NSLICE_SESSION_DRAINED, &cut);
    char *memory = map_session(fd, cut.memory_bytes);
    int file, reader;

    fill_session(memory, &cut, NSLICE_FULL_DISCARD);
    file = open_memory_file(memory, cut.memory_bytes);
    expect("the memory file itself", file, 0);
    reader = open_reader(cut.id, 0);
    if (file >= 0) {
        expect("a hole by fallocate",
               fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 1 << 20), 0);
        ((struct nslice_session *)memory)->announce_tail = 4096;
        ring_of(memory, RING_BYTES, 0)->head = NSLICE_POSITION_STEP(2) * 10;
        expect("the file truncated to zero", ftruncate(file, 0), 0);
        close(file);
    }
    usleep(50000);
    munmap(memory, cut.memory_bytes);
    close(fd);
    expect("a reader of the truncated file finishes", read_to_end(reader), 0);
    close(reader);
}

static void send_descriptor(int to, int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    must(sendmsg(to, &message, 0) != 1, "sendmsg");
}

static int receive_descriptor(int from)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    int fd;

    must(recvmsg(from, &message, 0) != 1, "recvmsg");
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    return fd;
}

/* Entries of sessions that are still referenced. */
static uint32_t sessions_alive(void)
{
    static struct nslice_session_entry entries[64];
    struct nslice_list_request request = {
        .size = sizeof(request), .room = 64, .entries = (uint64_t)(uintptr_t)entries};
    const int fd = open_device(O_RDWR);
    uint32_t alive = 0;

    must(ioctl(fd, NSLICE_IOC_LIST, &request), "list");
    for (uint32_t i = 0; i < request.count && i < 64; ++i)
        alive += !(entries[i].flags & NSLICE_ENTRY_OVER);
    close(fd);
    return alive;
}

/* A descriptor in transit in a socket keeps its session; its receiver may map it. */
static void try_passing_on(void)
{
    struct nslice_session_request passed;
    int sockets[2], fd = open_session(RING_BYTES, 0, &passed);
    const uint32_t before = sessions_alive();
    char *memory;

    must(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets), "socketpair");
    send_descriptor(sockets[0], fd);
    close(fd);
    usleep(300000);
    expect("a session in transit is alive", sessions_alive() == before ? 0 : -1, 0);
    fd = receive_descriptor(sockets[1]);
    memory = map_session(fd, passed.memory_bytes);
    close(fd);
    usleep(300000);
    expect("a session that is only mapped is alive", sessions_alive() == before ? 0 : -1, 0);
    munmap(memory, passed.memory_bytes);
    usleep(300000);
    expect("an unreferenced session is gone", sessions_alive() == before - 1 ? 0 : -1, 0);
    /* one that is sent and never received disappears with its sockets */
    fd = open_session(RING_BYTES, 0, &passed);
    send_descriptor(sockets[0], fd);
    close(fd);
    close(sockets[0]);
    close(sockets[1]);
    usleep(300000);
    expect("a session lost in transit is gone", sessions_alive() == before - 1 ? 0 : -1, 0);
}

static void end_and_close(char *fd)
{
    ioctl(*(int *)(void *)fd, NSLICE_IOC_END);
    close(*(int *)(void *)fd);
}

/* END in a child ends the session for the parent as well; both hold references. */
static void try_fork(void)
{
    struct nslice_session_request forked;
    int fd = open_session(RING_BYTES, 0, &forked);
    const uint32_t before = sessions_alive();
    char *memory = map_session(fd, forked.memory_bytes);
    const pid_t child = fork();

    if (child == 0) {
        close(fd);
        sleep(1);
        _exit(0);
    }
    munmap(memory, forked.memory_bytes);
    close(fd);
    usleep(300000);
    expect("a session held only by a child is alive", sessions_alive() == before ? 0 : -1, 0);
    waitpid(child, NULL, 0);
    usleep(300000);
    expect("a session whose child is gone is gone", sessions_alive() == before - 1 ? 0 : -1, 0);
    fd = open_session(RING_BYTES, 0, &forked);
    expect("END in a child", signal_of_child(end_and_close, (char *)&fd), 0);
    expect("the parent can still map it",
           mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0, 0);
    close(fd);
}

/*
 * Snapshots are only for flight recorders; of another session, they would take records from its
 * reader.
 */
static void try_snapshot_of_discard(void)
{
    struct nslice_session_request plain;
    const int fd = open_session(RING_BYTES, 0, &plain), reader = open_device(O_RDWR);
    struct nslice_reader_request request = {
        .size = sizeof(request), .session = plain.id, .flags = NSLICE_READER_SNAPSHOT};
    char *memory = map_session(fd, plain.memory_bytes);

    fill_session(memory, &plain, NSLICE_FULL_DISCARD);
    expect("a snapshot of policy discard", ioctl(reader, NSLICE_IOC_READER, &request), EINVAL);
    request.flags = 0;
    expect("a reader of what its process drains", ioctl(reader, NSLICE_IOC_READER, &request),
           EBUSY);
    close(reader);
    munmap(memory, plain.memory_bytes);
    close(fd);
}

int main(void)
{
    int fd = open_session(RING_BYTES, 0, &session);

    try_maps(fd);
    try_changes(fd);
    close(fd);
    try_cut();
    try_passing_on();
    try_fork();
    try_snapshot_of_discard();
    return tell_rows("misuse_memory");
}
