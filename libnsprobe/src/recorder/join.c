/* SPDX-License-Identifier: MIT */
/* Joining a session that another process drains: descriptor -> mapped rings -> probes on. */
#define _GNU_SOURCE
#include "join.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach.h"
#include "session/error.h"
#include "session/process.h"
#include "session/shm.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_joined;
static int is_attached; /* by a recorder that attached to the running process, and may detach */
/* Kept mapped until the next join, for threads preempted inside a probe: see nsp_shm_keep(). */
static struct nsp_shm_map map;

int nsp_is_joined(void)
{
    return __atomic_load_n(&is_joined, __ATOMIC_ACQUIRE);
}

static int refuse(struct nsp_shm_map *joined, int err)
{
    char words[sizeof(joined->shm->refusal)];

    snprintf(words, sizeof(words), "%s", nsp_last_error());
    snprintf(joined->shm->refusal, sizeof(joined->shm->refusal), "%s", words);
    __atomic_fetch_add(&joined->shm->refused, 1, __ATOMIC_RELEASE);
    joined->fd = -1; /* the caller's again */
    nsp_shm_close(joined);
    return nsp_fail(err, "%s", words);
}

static int join_locked(int fd)
{
    struct nsp_shm_map before = map;
    int err;

    if (is_joined)
        return nsp_fail(-EBUSY, "process %d is already being recorded", (int)getpid());
    err = nsp_shm_open(fd, &map);
    if (!err) {
        err = nsp_process_begin(&map);
        if (err)
            err = refuse(&map, err);
    }
    if (err) {
        map = before;
        return err;
    }
    nsp_shm_keep(&before);
    __atomic_store_n(&is_joined, 1, __ATOMIC_RELEASE);
    return 0;
}

static int join(int fd, int attached)
{
    int err;

    pthread_mutex_lock(&lock);
    err = join_locked(fd);
    if (!err)
        is_attached = attached;
    pthread_mutex_unlock(&lock);
    return err;
}

int nsp_join_recorder(int fd)
{
    return join(fd, 1);
}

int nsp_join_from_environment(void)
{
    const char *text = secure_getenv(NSP_SESSION_FD_VARIABLE);
    char *end;
    long inherited;
    int fd, err;

    if (!text)
        return 0;
    inherited = strtol(text, &end, 10);
    /* The inherited descriptor stays open for programs that this process may exec. */
    fd = *end == 0 && end != text ? fcntl((int)inherited, F_DUPFD_CLOEXEC, 64) : -1;
    if (fd < 0 && *end == 0 && end != text) /* a low limit of open files */
        fd = fcntl((int)inherited, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        /* Closed before exec (e.g. a daemon's child): the program is simply not recorded. */
        return 0;
    }
    err = join(fd, 0);
    if (!err && map.shm->control && nsp_control_listen())
        fprintf(stderr, "netslice: %s\n", nsp_last_error());
    if (!err)
        return 1;
    close(fd);
    if (err == -EBADF)
        return 0; /* the number was reused: not recorded, as with a closed descriptor */
    fprintf(stderr, "netslice: %s\n", nsp_last_error());
    return 1;
}

void nsp_leave(void)
{
    pthread_mutex_lock(&lock);
    if (is_joined) {
        nsp_process_stop(0);
        nsp_process_end();
        __atomic_store_n(&is_joined, 0, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

void nsp_join_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    if (is_attached)
        is_joined = 0; /* the connection that signals the end stayed with the parent */
}
