/* SPDX-License-Identifier: MIT */
/* misuse_users: what an unprivileged user, and root of a user namespace, may not do; as uid 1000,
 * with a session of root present. */
#define _GNU_SOURCE
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "device.h"

static struct nslice_session_request roots; /* session */

/* Sessions of other users are invisible; own ones are visible. */
static void try_as(const char *who)
{
    struct nslice_reader_request reader = {.size = sizeof(reader), .session = roots.id};
    struct nslice_kernel_request kernel = {.size = sizeof(kernel)};
    struct nslice_slices_request slices = {.size = sizeof(slices)};
    struct nslice_list_request list = {.size = sizeof(list)};
    struct nslice_session_request own;
    const int fd = open_device(O_RDWR | O_NONBLOCK);
    int session;
    char byte;

    printf("as %s\n", who);
    expect("a recorder of the kernel", ioctl(fd, NSLICE_IOC_KERNEL, &kernel), EPERM);
    expect("rules for the kernel", ioctl(fd, NSLICE_IOC_SLICES, &slices), EPERM);
    expect("a reader of root's session", ioctl(fd, NSLICE_IOC_READER, &reader), EACCES);
    reader.flags = NSLICE_READER_SNAPSHOT;
    expect("a snapshot of root's session", ioctl(fd, NSLICE_IOC_READER, &reader), EACCES);
    must(ioctl(fd, NSLICE_IOC_LIST, &list), "list");
    expect("root's session in the list", list.count == 0 ? 0 : -1, 0);
    usleep(300000);
    expect("a read of any session", read(fd, &byte, 1), EAGAIN);
    session = open_session(4096, NSLICE_SESSION_DRAINED, &own);
    must(ioctl(fd, NSLICE_IOC_LIST, &list), "list");
    expect("the user's own session in the list", list.count == 1 ? 0 : -1, 0);
    close(session);
    for (int patience = 500; list.count > 0 && patience > 0;
         --patience) { /* the module removes it at its next check */
        usleep(10000);
        must(ioctl(fd, NSLICE_IOC_LIST, &list), "list");
    }
    close(fd);
}

/* A file that a user opened, read by a program of root, for example as its standard input. */
static void read_for_another(void)
{
    struct pollfd readable = {.events = POLLIN};

    must(setegid(1000), "setegid");
    must(seteuid(1000), "seteuid");
    readable.fd = open_device(O_RDWR | O_NONBLOCK);
    must(seteuid(0), "seteuid back");
    expect("root's session in a file that a user opened", poll(&readable, 1, 1000) == 0 ? 0 : -1,
           0);
    close(readable.fd);
}

static void become_user(void)
{
    must(setgroups(0, NULL), "setgroups");
    must(setresgid(1000, 1000, 1000), "setresgid");
    must(setresuid(1000, 1000, 1000), "setresuid");
}

int main(void)
{
    const int session = open_session(65536, NSLICE_SESSION_DRAINED, &roots);
    void *memory = map_session(session, roots.memory_bytes);
    pid_t child;
    int status;

    fill_session(memory, &roots, NSLICE_FULL_OVERWRITE);
    child = fork();
    if (child == 0) {
        become_user();
        errno = 0;
        expect("the device without its group", open(NSLICE_DEVICE, O_RDWR), EACCES);
        _exit(tell_rows("misuse_users without the group"));
    }
    waitpid(child, &status, 0);
    must(chmod(NSLICE_DEVICE, 0666), "chmod"); /* as if in the group */
    child = fork();
    if (child == 0) {
        close(session);
        read_for_another();
        become_user();
        try_as("uid 1000");
        if (unshare(CLONE_NEWUSER))
            expect("unshare", -1, 0);
        else
            try_as("root of a user namespace");
        _exit(tell_rows("misuse_users"));
    }
    waitpid(child, &status, 0);
    return status != 0;
}
