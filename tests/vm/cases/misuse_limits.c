/* SPDX-License-Identifier: MIT */
/* misuse_limits: the maximum number of open files, sessions and readers; readers that are
 * interrupted, killed, or two at once. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "device.h"

#define MAX_OF_EACH 64 /* max_sessions, max_readers */

static void raise_files(rlim_t count)
{
    const struct rlimit limit = {count, count};

    must(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

static void try_open_files(void)
{
    static int files[2000];
    int opened = 0;

    for (int i = 0; i < 10000; ++i)
        close(open_device(O_RDWR));
    for (int i = 0; i < 2000; ++i)
        opened += (files[i] = open(NSLICE_DEVICE, O_RDWR)) >= 0;
    expect("2000 files at once", opened == 2000 ? 0 : -1, 0);
    for (int i = 0; i < 2000; ++i)
        close(files[i]);
}

/* The maximum number, one too many, and again after they are closed. */
static void try_to_fill(const char *what, unsigned long command, void *request, const void *fresh,
                        size_t bytes)
{
    int files[MAX_OF_EACH + 1];

    for (int turn = 0; turn < 2; ++turn) {
        for (int i = 0; i <= MAX_OF_EACH; ++i) {
            files[i] = open_device(O_RDWR | O_NONBLOCK);
            memcpy(request, fresh, bytes);
            expect(what, ioctl(files[i], command, request), i < MAX_OF_EACH ? 0 : EMFILE);
        }
        for (int i = 0; i <= MAX_OF_EACH; ++i)
            close(files[i]);
    }
}

static void on_alarm(int number)
{
    (void)number;
}

static void try_interrupted_read(void)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    const int fd = open_as(FRESH);
    char byte;

    fcntl(fd, F_SETFL, 0);
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 3; ++i) {
        alarm(1);
        expect("a read that a signal interrupts", read(fd, &byte, 1), EINTR);
    }
    close(fd);
}

/* The kernel removes the reader whatever it was doing; the session is available to the next one. */
static void try_killed_readers(void)
{
    struct nslice_session_request session;
    const int fd = open_session(65536, NSLICE_SESSION_DRAINED, &session);
    struct nslice_reader_request request = {.size = sizeof(request), .session = session.id};
    void *memory = map_session(fd, session.memory_bytes);
    int first, second;

    fill_session(memory, &session, NSLICE_FULL_DISCARD);
    for (int i = 0; i < 20; ++i) {
        const pid_t child = fork();
        char bytes[16];

        if (child == 0) {
            first = open_device(O_RDWR);
            must(ioctl(first, NSLICE_IOC_READER, &request), "reader");
            while (read(first, bytes, sizeof(bytes)) > 0)
                ;
            _exit(1);
        }
        usleep((useconds_t)(i * 500));
        kill(child, SIGKILL);
        expect("a reader that is killed is gone", waitpid(child, NULL, 0) == child ? 0 : -1, 0);
    }
    first = open_device(O_RDWR | O_NONBLOCK);
    second = open_device(O_RDWR | O_NONBLOCK);
    expect("the next reader", ioctl(first, NSLICE_IOC_READER, &request), 0);
    expect("a second reader", ioctl(second, NSLICE_IOC_READER, &request), EBUSY);
    close(first);
    expect("a reader after the first is closed", ioctl(second, NSLICE_IOC_READER, &request), 0);
    close(second);
    munmap(memory, session.memory_bytes);
    close(fd);
}

static uint32_t session_count(void)
{
    struct nslice_list_request request = {.size = sizeof(request)};
    const int fd = open_device(O_RDWR);

    must(ioctl(fd, NSLICE_IOC_LIST, &request), "list");
    close(fd);
    return request.count;
}

/* A session with a record that is never read. */
static void leave_session(void)
{
    struct nslice_session_request session;
    const int fd = open_session(4096, NSLICE_SESSION_DRAINED, &session);
    void *memory = map_session(fd, session.memory_bytes);

    fill_session(memory, &session, NSLICE_FULL_DISCARD);
    ring_of(memory, session.ring_bytes, 0)->head = NSLICE_POSITION_STEP(2);
    munmap(memory, session.memory_bytes);
    close(fd);
}

/* Sessions that another user leaves behind evict that user's own, not root's. */
static void try_others_leftovers(void)
{
    uint32_t roots;
    pid_t child;
    int status;

    leave_session();
    roots = session_count();
    must(chmod(NSLICE_DEVICE, 0666), "chmod"); /* as if all were in the group */
    child = fork();
    if (child == 0) {
        must(setresuid(1000, 1000, 1000), "setresuid");
        for (int i = 0; i < 20; ++i)
            leave_session();
        usleep(300000);
        expect("one user's waiting sessions", session_count() == 4 ? 0 : -1, 0);
        _exit(failures);
    }
    expect("the other user's part", waitpid(child, &status, 0) == child && status == 0 ? 0 : -1, 0);
    expect("root's sessions next to them", session_count() == roots + 4 ? 0 : -1, 0);
}

int main(void)
{
    const struct nslice_session_request session = {.size = sizeof(session), .ring_bytes = 1 << 20};
    const struct nslice_reader_request reader = {.size = sizeof(reader)};
    struct nslice_session_request session_request;
    struct nslice_reader_request reader_request;

    raise_files(4096);
    try_open_files();
    try_to_fill("sessions", NSLICE_IOC_SESSION, &session_request, &session, sizeof(session));
    try_to_fill("readers", NSLICE_IOC_READER, &reader_request, &reader, sizeof(reader));
    try_interrupted_read();
    try_killed_readers();
    try_others_leftovers();
    return tell_rows("misuse_limits");
}
