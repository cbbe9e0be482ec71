/* SPDX-License-Identifier: MIT */
/* Being recorded while running: connection of the same user -> descriptor of a session -> probes on, until the connection ends. */
#define _GNU_SOURCE
#include "attach.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nsprobe/session.h>

#include "error.h"
#include "join.h"

static int listener = -1;

socklen_t nsp_attach_address(int pid, struct sockaddr_un *address)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    /* sun_path[0] stays zero: the abstract name space, gone with the process */
    snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "netslice.attach.%d", pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address->sun_path + 1));
}

/* The kernel's word, not the peer's: only the same user and root may record a process. */
static int is_allowed(int connection)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);

    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

static int receive_descriptor(int connection)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
    const struct timeval patience = {1, 0}; /* who connects and is silent must not keep others out */
    struct cmsghdr *head;
    int fds[2];
    size_t count;

    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) < 0)
        return -1;
    head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS || head->cmsg_len < CMSG_LEN(0))
        return -1;
    count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, CMSG_DATA(head), count * sizeof(int));
    if (count == 1)
        return fds[0];
    /* The room for one, rounded up, is room for two. */
    for (size_t i = 0; i < count; ++i)
        close(fds[i]);
    return -1;
}

static void refuse(int connection, int err, const char *words)
{
    struct nsp_attach_answer answer = {.err = err};

    snprintf(answer.words, sizeof(answer.words), "%s", words);
    send(connection, &answer, sizeof(answer), MSG_NOSIGNAL);
}

static void refuse_next(void)
{
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC), fd;

    if (connection < 0)
        return;
    if (is_allowed(connection)) {
        fd = receive_descriptor(connection); /* unread, it would turn the answer into a reset connection */
        if (fd >= 0)
            close(fd);
        refuse(connection, -EBUSY, "it is being recorded already");
    }
    close(connection);
}

/* The recorder's end, by whatever cause, ends the connection; others that come meanwhile are told so at once. */
static void wait_for_end(int connection)
{
    struct pollfd events[2] = {{.fd = connection, .events = POLLIN}, {.fd = listener, .events = POLLIN}};

    do {
        events[0].revents = events[1].revents = 0;
        if (poll(events, 2, -1) < 0 && errno != EINTR)
            return;
        if (events[1].revents)
            refuse_next();
    } while (!events[0].revents);
}

/* Serves one recorder; returns when it has gone. */
static void serve(int connection)
{
    struct nsp_attach_answer answer = {0};
    int fd;

    if (!is_allowed(connection))
        return;
    fd = receive_descriptor(connection);
    if (fd < 0)
        return;
    answer.err = nsp_join_recorder(fd);
    if (answer.err) {
        refuse(connection, answer.err, nsp_last_error());
        close(fd);
        return;
    }
    if (send(connection, &answer, sizeof(answer), MSG_NOSIGNAL) == (ssize_t)sizeof(answer))
        wait_for_end(connection);
    nsp_leave();
    send(connection, &answer, sizeof(answer), MSG_NOSIGNAL);
}

static void *listen_for_recorders(void *unused)
{
    (void)unused;
    for (;;) {
        int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (connection < 0) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            return NULL;
        }
        serve(connection);
        close(connection);
    }
}

int nsp_attach_listen(void)
{
    struct sockaddr_un address;
    socklen_t bytes = nsp_attach_address((int)getpid(), &address);
    sigset_t all, before;
    pthread_t thread;
    int err;

    if (listener >= 0)
        return 0;
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, 4)) {
        err = nsp_fail(-errno, "cannot listen for recorders: %s", strerror(errno));
        if (listener >= 0)
            close(listener);
        listener = -1;
        return err;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&thread, NULL, listen_for_recorders, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err) {
        close(listener);
        listener = -1;
        return nsp_fail(-err, "cannot start the listener: %s", strerror(err));
    }
    pthread_setname_np(thread, "nsp-attach");
    pthread_detach(thread);
    return 0;
}

void nsp_attach_after_fork(void)
{
    if (listener >= 0)
        close(listener);
    listener = -1;
}
