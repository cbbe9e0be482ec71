/* SPDX-License-Identifier: MIT */
/* The requesting side of a process's listener: connect, check who answers, wait for the answer. */
#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "session/error.h"

#define CONNECT_TURNS 20
#define ANSWER_SECONDS 10 /* joining calibrates: milliseconds per CPU, seconds with source step */

/* Any process may have bound the abstract name first: the kernel knows which one listens. */
static int is_process(int connection, int pid)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);

    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.pid == pid;
}

/* A process just created by fork() has its listener only after its listening thread has run. */
static int connect_to(int connection, int pid)
{
    const struct timespec pause = {0, 10000000};
    struct sockaddr_un address;
    const socklen_t bytes = nsp_attach_address(pid, &address);
    int err = connect(connection, (struct sockaddr *)&address, bytes);

    for (int turn = 0; err && errno == ECONNREFUSED && turn < CONNECT_TURNS; ++turn) {
        nanosleep(&pause, NULL);
        err = connect(connection, (struct sockaddr *)&address, bytes);
    }
    return err;
}

int nsp_connect_to_process(int pid, const char *what, const char *remedy)
{
    const struct timeval patience = {ANSWER_SECONDS, 0};
    int connection, err = 0;

    if (kill(pid, 0) && errno == ESRCH)
        return nsp_fail(-ESRCH, "process %d: %s", pid, strerror(ESRCH));
    connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connection < 0)
        return nsp_fail(-errno, "socket: %s", strerror(errno));
    if (connect_to(connection, pid))
        err = nsp_fail(-errno, "process %d: does not accept %s: %s (%s)", pid, what,
                       strerror(errno), remedy);
    else if (!is_process(connection, pid))
        err = nsp_fail(-EACCES,
                       "process %d: another process answers in its name; nothing was sent to it",
                       pid);
    if (err) {
        close(connection);
        return err;
    }
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return connection;
}

int nsp_await_answer(int connection, int pid)
{
    struct nsp_attach_answer answer;
    const ssize_t bytes = recv(connection, &answer, sizeof(answer), 0);

    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return nsp_fail(-EBUSY,
                        "process %d: timed out after %d seconds without an answer (is it stopped?)",
                        pid, ANSWER_SECONDS);
    if (bytes < 0)
        return nsp_fail(-errno, "process %d: no answer: %s", pid, strerror(errno));
    if (bytes != (ssize_t)sizeof(answer))
        return nsp_fail(-EACCES,
                        "process %d: permission denied: only its own user and root may record it "
                        "(or it is exiting)",
                        pid);
    if (answer.err)
        return nsp_fail(answer.err, "process %d refused: %.500s", pid, answer.words);
    return nsp_fail(0, "%.507s", answer.words);
}
