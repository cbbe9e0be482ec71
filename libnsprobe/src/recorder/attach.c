/* SPDX-License-Identifier: MIT */
/* Recording a running process: connection -> session descriptor -> probes on until it closes. */
#define _GNU_SOURCE
#include "attach.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nsprobe/session.h>

#include "descriptor.h"
#include "join.h"
#include "own_descriptors.h"
#include "session/error.h"
#include "session/own_threads.h"
#include "session/process.h"
#include "sites/sites.h"

static int listener = -1; /* owned by the listening thread */
static struct nsp_descriptor_file listener_file;
static int is_listening;
static int is_wanted; /* recorders are accepted: by this process, or by its parent before fork() */

static struct {
    sem_t is_done;
    int err;
    char words[NSP_ERROR_BYTES];
} start; /* outcome of starting the listening thread */

socklen_t nsp_attach_address(int pid, struct sockaddr_un *address)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    /* sun_path[0] stays zero: the abstract namespace, freed with the process */
    snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "netslice.attach.%d", pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address->sun_path + 1));
}

/* If the descriptor table is shared with the program, it may have closed the listener and reused
 * its number. */
static int has_listener(void)
{
    return nsp_descriptor_is(listener, &listener_file);
}

static int open_listener(void)
{
    struct sockaddr_un address;
    const socklen_t bytes = nsp_attach_address((int)getpid(), &address);
    int err;

    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, bytes) == 0 &&
        listen(listener, 4) == 0 && nsp_descriptor_note(listener, &listener_file) == 0)
        return 0;
    err = nsp_fail(-errno, "cannot listen for recorders: %s", strerror(errno));
    if (listener >= 0)
        close(listener);
    listener = -1;
    return err;
}

/* As reported by the kernel, not by the peer: only the same user and root may record a process. */
static int is_allowed(int connection)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);

    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

/* A session's descriptor; or new rules for the process's session, if `text` is not empty. */
struct request {
    int fd; /* -1: none */
    char text[NSP_CONTROL_BYTES];
};

static int receive_descriptor(int connection, struct request *out)
{
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {out->text, sizeof(out->text) - 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    const struct timeval patience = {1, 0}; /* a silent peer must not block others */
    struct cmsghdr *head;
    int fds[2];
    size_t count;

    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    memset(out->text, 0, sizeof(out->text));
    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) < 0)
        return -1;
    head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len < CMSG_LEN(0))
        return -1;
    count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, CMSG_DATA(head), count * sizeof(int));
    if (count == 1)
        return fds[0];
    /* The room for one, rounded up, has room for two. */
    for (size_t i = 0; i < count; ++i)
        close(fds[i]);
    return -1;
}

static void receive(int connection, struct request *out)
{
    out->fd = receive_descriptor(connection, out);
    if (out->fd >= 0)
        out->text[0] = 0;
}

static void refuse(int connection, int err, const char *words)
{
    struct nsp_attach_answer answer = {.err = err};

    snprintf(answer.words, sizeof(answer.words), "%s", words);
    send(connection, &answer, sizeof(answer), MSG_NOSIGNAL);
}

/* New rules of the session that this process is in: 1, and the answer has been sent. */
static int is_control(int connection, const struct request *request)
{
    const size_t key_bytes = strlen(NSP_CONTROL_SLICES);
    char unmatched[sizeof(((struct nsp_attach_answer *)0)->words)];
    int err;

    if (memcmp(request->text, NSP_CONTROL_SLICES, key_bytes) != 0)
        return 0;
    err = nsp_process_select(request->text + key_bytes);
    if (!err)
        nsp_sites_describe_unmatched(unmatched, sizeof(unmatched));
    refuse(connection, err, err ? nsp_last_error() : unmatched);
    return 1;
}

/* A request while the process is being recorded, or while it accepts no recorders. */
static void serve_briefly(int connection, int err, const char *words)
{
    struct request request;

    receive(connection, &request); /* if unread, it would reset the connection instead */
    if (request.fd >= 0)
        close(request.fd);
    if (!is_control(connection, &request))
        refuse(connection, err, words);
}

static void refuse_next(void)
{
    int connection = has_listener() ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;

    if (connection < 0)
        return;
    if (is_allowed(connection))
        serve_briefly(connection, -EBUSY, "it is already being recorded");
    close(connection);
}

/* The recorder's end closes the connection; other recorders are refused immediately until then. */
static void wait_for_end(int connection)
{
    struct pollfd events[2] = {{.fd = connection, .events = POLLIN}, {.events = POLLIN}};

    do {
        events[1].fd = has_listener() ? listener : -1;
        events[0].revents = events[1].revents = 0;
        if (poll(events, 2, -1) < 0 && errno != EINTR)
            return;
        if (events[1].revents)
            refuse_next();
    } while (!events[0].revents);
}

/* Serves one recorder; returns when it has disconnected. */
static void serve(int connection)
{
    struct nsp_attach_answer answer = {0};
    struct request request;

    if (!is_allowed(connection))
        return;
    if (!__atomic_load_n(&is_wanted, __ATOMIC_ACQUIRE))
        return serve_briefly(connection, -EPERM,
                             "it does not accept recorders (start it with NETSLICE=attach=yes)");
    receive(connection, &request);
    if (is_control(connection, &request) || request.fd < 0)
        return;
    answer.err = nsp_join_recorder(request.fd);
    if (answer.err) {
        refuse(connection, answer.err, nsp_last_error());
        close(request.fd);
        return;
    }
    if (send(connection, &answer, sizeof(answer), MSG_NOSIGNAL) == (ssize_t)sizeof(answer))
        wait_for_end(connection);
    nsp_leave();
    send(connection, &answer, sizeof(answer), MSG_NOSIGNAL);
}

/* Returns when the listener is permanently lost. */
static void serve_all(void)
{
    const struct timespec pause = {0, 100000000};

    while (has_listener() || open_listener() == 0) {
        const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (connection >= 0) {
            serve(connection);
            close(connection);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            nanosleep(&pause, NULL);
        }
    }
}

static void *listen_for_recorders(void *unused)
{
    (void)unused;
    nsp_take_own_descriptors();
    start.err = open_listener();
    snprintf(start.words, sizeof(start.words), "%s", start.err ? nsp_last_error() : "");
    sem_post(&start.is_done);
    if (!start.err)
        serve_all();
    return NULL;
}

static int start_thread(void)
{
    pthread_t thread;
    int err;

    sem_init(&start.is_done, 0, 0);
    err = nsp_own_thread_start(&thread, "nsp-attach", listen_for_recorders, NULL);
    if (err)
        return nsp_fail(-err, "cannot start the listener: %s", strerror(err));
    pthread_detach(thread);
    return 0;
}

/* Returns once the address accepts connections. */
static int start_listening(void)
{
    const int err = start_thread();

    if (err)
        return err;
    while (sem_wait(&start.is_done) && errno == EINTR)
        ;
    return start.err ? nsp_fail(start.err, "%s", start.words) : 0;
}

int nsp_control_listen(void)
{
    const int err = is_listening ? 0 : start_listening();

    is_listening |= !err;
    return err;
}

int nsp_attach_listen(void)
{
    int err;

    __atomic_store_n(&is_wanted, 1, __ATOMIC_RELEASE); /* a recorder may come at once */
    err = nsp_control_listen();
    if (err)
        __atomic_store_n(&is_wanted, 0, __ATOMIC_RELEASE);
    return err;
}

/* A child that has returned from fork() accepts recorders, unless its thread does not get to run.
 */
static void wait_a_moment(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    while (sem_timedwait(&start.is_done, &until) && errno == EINTR)
        ;
}

/* ThreadSanitizer terminates a child of a multithreaded program if it starts a thread. */
extern void __tsan_init(void) __attribute__((weak));

void nsp_attach_after_fork(void)
{
    if (has_listener())
        close(listener); /* the parent's; absent if the thread had its own table */
    listener = -1;
    is_listening = 0;
    /* If this fails, the child refuses recorders. */
    if (is_wanted && !__tsan_init && start_thread() == 0) {
        is_listening = 1;
        wait_a_moment();
    }
}
