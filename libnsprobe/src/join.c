/* SPDX-License-Identifier: MIT */
/* Taking part in a session that another process drains: descriptor -> mapped rings -> probes on. */
#define _GNU_SOURCE
#include "join.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "error.h"
#include "process.h"
#include "shm.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_joined;
/* A leaver's memory stays mapped until it joins again: see session.c on threads put aside inside a probe. */
static struct nsp_shm_map map;

int nsp_is_joined(void)
{
    return __atomic_load_n(&is_joined, __ATOMIC_ACQUIRE);
}

static int join_locked(int fd)
{
    struct nsp_shm_map joined;
    int err;

    if (is_joined)
        return nsp_fail(-EBUSY, "process %d is being recorded already", (int)getpid());
    err = nsp_shm_open(fd, &joined);
    if (err)
        return err;
    if (map.mapping)
        nsp_shm_close(&map);
    map = joined;
    err = nsp_process_begin(&map);
    if (err) {
        __atomic_fetch_add(&map.shm->refused, 1, __ATOMIC_RELAXED);
        snprintf(map.shm->refusal, sizeof(map.shm->refusal), "%s", nsp_last_error());
        map.fd = -1; /* the caller's again: whoever has the number next must not be closed with this map */
        return err;
    }
    __atomic_store_n(&is_joined, 1, __ATOMIC_RELEASE);
    return 0;
}

int nsp_join(int fd)
{
    int err;

    pthread_mutex_lock(&lock);
    err = join_locked(fd);
    pthread_mutex_unlock(&lock);
    return err;
}

int nsp_join_from_environment(void)
{
    const char *text = secure_getenv(NSP_SESSION_FD_VARIABLE);
    char *end;
    long inherited;
    int fd;

    if (!text)
        return 0;
    inherited = strtol(text, &end, 10);
    /* The inherited descriptor stays open for children that this process may exec. */
    fd = *end == 0 && end != text ? fcntl((int)inherited, F_DUPFD_CLOEXEC, 64) : -1;
    if (fd < 0) {
        /* A program that closes its descriptors before exec (a daemon's child, say) is simply not recorded. */
        return 0;
    }
    if (nsp_join(fd))
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
}
