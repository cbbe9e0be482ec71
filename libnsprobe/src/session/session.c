/* SPDX-License-Identifier: MIT */
/* A process's own session: configuration -> rings, a drain thread, a trace file. */
#define _GNU_SOURCE
#include <nsprobe/detail/state.h>
#include <nsprobe/recorder.h>
#include <nsprobe/session.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "counters/counters.h"
#include "drain/own_drain.h"
#include "drain/write_signals.h"
#include "error.h"
#include "options.h"
#include "process.h"
#include "recorder/attach.h"
#include "recorder/join.h"
#include "sites/sites.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* open, close, snapshot */
static int is_open;
static int is_from_environment; /* the open session was requested by NETSLICE */
static int is_from_text;        /* by NETSLICE or NET_SLICE_CONF: messages are printed */
static pid_t owner_pid;
static struct nsp_shm_map map;
static int is_drained_here; /* else by readers of the kernel module */

/* "%p" in the name becomes the process id. */
static int expand_output(const char *name, char *path, size_t room)
{
    const char *mark;
    int length;

    if (!name || !*name)
        name = "netslice.%p.nsl";
    mark = strstr(name, "%p");
    if (mark)
        length =
            snprintf(path, room, "%.*s%d%s", (int)(mark - name), name, (int)getpid(), mark + 2);
    else
        length = snprintf(path, room, "%s", name);
    return (size_t)length < room
               ? 0
               : nsp_fail(-ENAMETOOLONG, "output: path longer than %zu characters", room - 1);
}

static int begin(void)
{
    int err = nsp_process_begin(&map);

    if (err || !is_drained_here)
        return err;
    err = nsp_own_drain_start();
    if (err) {
        nsp_process_stop(1);
        nsp_process_end();
    }
    return err;
}

/* Opens the session's memory, and its file if this process drains it. */
static int open_parts(const struct nsp_session_config *config)
{
    char path[512], words[NSP_ERROR_BYTES];
    int err = nsp_shm_create(config, &map);

    if (err)
        return err;
    if (is_drained_here) {
        err = expand_output(config->output, path, sizeof(path));
        if (!err)
            err = nsp_own_drain_open(&map, path, config->has_file ? config->file : -1);
        if (err)
            return err;
    }
    err = begin();
    if (err && is_drained_here) {
        snprintf(words, sizeof(words), "%s", nsp_last_error());
        nsp_own_drain_abandon();
        nsp_fail(err, "%s", words);
    }
    return err;
}

static int open_locked(const struct nsp_session_config *config)
{
    int err;

    if (is_open)
        return nsp_fail(-EBUSY, "a session is already open (a process can have one at a time)");
    if (nsp_is_joined())
        return nsp_fail(-EBUSY, "the process is being recorded by nsdump: its session is in use");
    is_drained_here = config->drained_by == NSP_DRAINED_BY_PROCESS;
    nsp_counter_period = config->counter_period;
    err = open_parts(config);
    if (err) {
        nsp_shm_keep(&map);
        nsp_counter_period = 0;
    } else {
        owner_pid = getpid();
    }
    is_open = !err;
    is_from_environment = is_from_text = 0;
    return err;
}

int nsp_session_open(const struct nsp_session_config *config)
{
    struct nsp_session_config copy;
    struct nsp_write_signals signals;
    int err = nsp_config_take(config, &copy);

    if (err)
        return err;
    pthread_mutex_lock(&lock);
    nsp_write_signals_hold(&signals);
    err = open_locked(&copy);
    if (!err && copy.control && nsp_control_listen()) /* the session is open nevertheless */
        fprintf(stderr, "netslice: control: %s\n", nsp_last_error());
    nsp_write_signals_release(&signals);
    pthread_mutex_unlock(&lock);
    return err;
}

/* While all else is recorded and drained: the rest of the close takes long. */
static int close_kernel(char *words)
{
    int err;

    if (!is_drained_here || !nsp_own_drain_has_kernel())
        return 0;
    err = nsp_own_drain_end_kernel(NULL);
    if (err)
        snprintf(words, NSP_ERROR_BYTES, "%s", nsp_last_error());
    return err;
}

static int close_locked(struct nsp_session_counts *counts)
{
    char words[NSP_ERROR_BYTES];
    int err = 0, kernel_err;

    /* A child created without fork()'s handlers (_Fork, clone) has no drain thread to wait for. */
    if (!is_open || owner_pid != getpid())
        return nsp_fail(-ENOENT, "no session is open");
    kernel_err = close_kernel(words);
    nsp_process_stop(1);
    if (is_drained_here)
        nsp_own_drain_stop();
    nsp_process_end();
    if (is_drained_here)
        err = nsp_own_drain_finish(counts);
    if (is_drained_here)
        nsp_shm_free_records(&map);
    nsp_shm_keep(&map);
    if (is_from_text)
        nsp_sites_report_unmatched(stderr);
    nsp_counter_period = 0;
    is_open = 0;
    return err || !kernel_err ? err : nsp_fail(kernel_err, "%s", words);
}

int nsp_session_close(struct nsp_session_counts *counts)
{
    struct nsp_write_signals signals;
    int err;

    if (counts)
        memset(counts, 0, sizeof(*counts));
    pthread_mutex_lock(&lock);
    nsp_write_signals_hold(&signals);
    err = close_locked(counts);
    nsp_write_signals_release(&signals);
    pthread_mutex_unlock(&lock);
    return err;
}

int nsp_session_snapshot(void)
{
    struct nsp_write_signals signals;
    int err = 0;

    pthread_mutex_lock(&lock);
    nsp_write_signals_hold(&signals);
    if (!is_open || owner_pid != getpid())
        err = nsp_fail(-ENOENT, "no session is open");
    else if (map.shm->full != NSLICE_FULL_OVERWRITE)
        err = nsp_fail(-EINVAL,
                       "a snapshot requires full=overwrite; this session is drained continuously");
    else if (!is_drained_here)
        err = nsp_fail(-EINVAL,
                       "this session is read through the kernel module (use `nsdump snapshot`)");
    if (!err)
        err = nsp_own_drain_snapshot();
    nsp_write_signals_release(&signals);
    pthread_mutex_unlock(&lock);
    return err;
}

static int add_kernel(const struct nsp_session_kernel *kernel)
{
    if (nsp_is_joined())
        return nsp_fail(-EBUSY, "the process is being recorded by nsdump, which records the kernel "
                                "as well (`nsdump record -k GROUPS`)");
    if (!is_open || owner_pid != getpid())
        return nsp_fail(-ENOENT, "no session is open (start the program with NETSLICE=output=FILE, "
                                 "or call nsp_session_open() before)");
    if (!is_drained_here)
        return nsp_fail(-ENOTSUP, "this session is read through the kernel module, which records "
                                  "the kernel as well");
    return nsp_own_drain_add_kernel(kernel);
}

int nsp_session_add_kernel(const struct nsp_session_kernel *kernel)
{
    struct nsp_write_signals signals;
    int err;

    if (!kernel || kernel->struct_size != sizeof(*kernel))
        return nsp_fail(-EINVAL, "struct nsp_session_kernel: version mismatch (rebuild the program "
                                 "with this library's headers)");
    pthread_mutex_lock(&lock);
    nsp_write_signals_hold(&signals);
    err = add_kernel(kernel);
    nsp_write_signals_release(&signals);
    pthread_mutex_unlock(&lock);
    return err;
}

int nsp_session_end_kernel(struct nsp_session_counts *counts)
{
    struct nsp_write_signals signals;
    int err = -ENOENT;

    if (counts)
        memset(counts, 0, sizeof(*counts));
    pthread_mutex_lock(&lock);
    nsp_write_signals_hold(&signals);
    if (is_open && owner_pid == getpid() && is_drained_here)
        err = nsp_own_drain_end_kernel(counts);
    else
        nsp_fail(err, "no session of this process is open");
    nsp_write_signals_release(&signals);
    pthread_mutex_unlock(&lock);
    return err;
}

static int has_session_of_environment(void)
{
    int answer;

    pthread_mutex_lock(&lock);
    answer = is_open && is_from_environment;
    pthread_mutex_unlock(&lock);
    return answer;
}

int nsp_session_configure(const char *options)
{
    struct nsp_options parsed;
    int err;

    nsp_options_init(&parsed);
    err = nsp_options_add(&parsed, options);
    if (!err)
        err = nsp_options_add(&parsed, secure_getenv("NETSLICE"));
    if (err)
        return err;
    /* A recorder of this process, or NETSLICE, takes precedence over the program's own options. */
    if (nsp_is_joined() || has_session_of_environment())
        return 0;
    if (parsed.attach)
        return nsp_attach_listen();
    return nsp_session_open(&parsed.config);
}

int nsp_session_is_on(void)
{
    return __atomic_load_n(&nsp_detail_state.mode, __ATOMIC_RELAXED) != NSP_DETAIL_MODE_OFF;
}

int nsp_session_conf(const char *options)
{
    int err = nsp_session_configure(options);

    if (err)
        fprintf(stderr, "netslice: %s\n", nsp_last_error());
    else
        is_from_text = 1;
    return err;
}

/* The session's lock may be held for long (calibration, slow disk): fork() does not wait. */
static int locked_for_fork;

static void before_fork(void)
{
    locked_for_fork = pthread_mutex_trylock(&lock) == 0;
    nsp_sites_before_fork();
}

static void in_parent(void)
{
    nsp_sites_after_fork();
    if (locked_for_fork)
        pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    nsp_sites_after_fork();
    nsp_join_after_fork();
    if (!nsp_is_joined())
        nsp_sites_forget_session(); /* the table and the trace are the parent's */
    /* The trace and the rings' memory are the parent's; the mapping stays for a probe that fork()
     * interrupted. */
    if (locked_for_fork && is_open)
        nsp_shm_close_file(&map);
    nsp_own_drain_after_fork(locked_for_fork && is_open && is_drained_here);
    /* The drain thread and any holder of the locks stayed with the parent. */
    pthread_mutex_init(&lock, NULL);
    is_open = 0;
    nsp_process_after_fork(nsp_is_joined());
    nsp_attach_after_fork();
}

/* See NSP_IGNORE_ENVIRONMENT: non-null if the program defines it. */
#pragma weak nsp_detail_ignore_environment

/*
 * Before main().  In a statically linked program the order of priorities matters: after the sites
 * (101, detail/register.h), before the program's own constructors and after its destructors.
 */
#define START_UP_PRIORITY 102

const char nsp_session_start_up = 1;

static void __attribute__((constructor(START_UP_PRIORITY))) library_loaded(void)
{
    const char *environment = secure_getenv("NETSLICE"); /* NULL with another user's rights */

    pthread_atfork(before_fork, in_parent, in_child);
    if (&nsp_detail_ignore_environment)
        return;
    if (nsp_join_from_environment())
        return;
    if (environment && *environment && !nsp_session_conf(NULL))
        is_from_environment = is_open;
}

static void __attribute__((destructor(START_UP_PRIORITY))) library_unloaded(void)
{
    if (nsp_is_joined())
        nsp_leave();
    else if (is_open && owner_pid == getpid() && nsp_session_close(NULL))
        fprintf(stderr, "netslice: %s\n", nsp_last_error());
}
