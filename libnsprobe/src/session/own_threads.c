/* SPDX-License-Identifier: MIT */
/* Threads of the library: start, and the end of a process in which only they are left. */
#define _GNU_SOURCE
#include "own_threads.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BETWEEN_LOOKS_NS 50000000
#define OF_FOLDER 2 /* links of /proc/self/task that are no threads: "." and ".." */
#define MAIN_THREAD 1

struct job {
    void *(*run)(void *);
    void *given;
};

static unsigned count;
static pthread_once_t is_key_made = PTHREAD_ONCE_INIT;
static pthread_key_t main_thread; /* its destructor runs when the main thread exits alone */
static int has_key;

static void *run(void *given)
{
    const struct job job = *(struct job *)given;
    void *result;

    free(given);
    result = job.run(job.given);
    __atomic_fetch_sub(&count, 1, __ATOMIC_RELEASE);
    return result;
}

static int start(pthread_t *thread, const char *name, void *(*job_run)(void *), void *given)
{
    struct job *job = malloc(sizeof(*job));
    sigset_t all, before;
    int err;

    if (!job)
        return ENOMEM;
    *job = (struct job){job_run, given};
    __atomic_fetch_add(&count, 1, __ATOMIC_RELEASE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(thread, NULL, run, job);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err) {
        __atomic_fetch_sub(&count, 1, __ATOMIC_RELEASE);
        free(job);
        return err;
    }
    pthread_setname_np(*thread, name);
    return 0;
}

/* Unknown, as without /proc: no. */
static int has_others(void)
{
    struct stat tasks;

    return stat("/proc/self/task", &tasks) != 0 ||
           tasks.st_nlink > OF_FOLDER + MAIN_THREAD + __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

/* Has the program's descriptors, which exit() may write to; a listener's thread has not. */
static void *end_with_the_last(void *unused)
{
    const struct timespec pause = {0, BETWEEN_LOOKS_NS};
    sigset_t none;

    (void)unused;
    while (has_others())
        nanosleep(&pause, NULL);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    exit(0);
}

static void main_thread_exits(void *unused)
{
    pthread_t thread;

    (void)unused;
    if (__atomic_load_n(&count, __ATOMIC_ACQUIRE) > 0 &&
        start(&thread, "nsp-end", end_with_the_last, NULL) == 0)
        pthread_detach(thread);
}

static void make_key(void)
{
    has_key = pthread_key_create(&main_thread, main_thread_exits) == 0;
}

int nsp_own_thread_start(pthread_t *thread, const char *name, void *(*job_run)(void *), void *given)
{
    pthread_once(&is_key_made, make_key);
    if (has_key && gettid() == getpid())
        pthread_setspecific(main_thread, &main_thread);
    return start(thread, name, job_run, given);
}

void nsp_own_threads_adopt(int more)
{
    __atomic_fetch_add(&count, (unsigned)more, __ATOMIC_RELEASE);
}

void nsp_own_threads_after_fork(void)
{
    count = 0;
}
