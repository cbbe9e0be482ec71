/* SPDX-License-Identifier: MIT */
/*
 * Threads of the program begin here: what a thread has to allocate to record its functions cannot
 * wait until its first call of one, which may come from a signal handler.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

#include "inside.h"

#define EXPORTED __attribute__((visibility("default")))

union run {
    void *(*of_posix)(void *);
    thrd_start_t of_c;
};

struct beginning {
    union run run;
    void *argument;
};

static struct beginning *remember(union run run, void *argument)
{
    struct beginning *const beginning = malloc(sizeof(*beginning));

    if (beginning)
        *beginning = (struct beginning){run, argument};
    return beginning;
}

static struct beginning begin(void *given)
{
    const struct beginning beginning = *(struct beginning *)given;

    free(given);
    nsf_begin_thread();
    return beginning;
}

static void *begin_posix(void *given)
{
    const struct beginning beginning = begin(given);

    return beginning.run.of_posix(beginning.argument);
}

static int begin_c(void *given)
{
    const struct beginning beginning = begin(given);

    return beginning.run.of_c(beginning.argument);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): glibc's are reserved */
EXPORTED int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                            void *(*run)(void *), void *restrict argument)
{
    int (*const next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        dlsym(RTLD_NEXT, "pthread_create");
    struct beginning *const beginning = remember((union run){.of_posix = run}, argument);
    const int error = next && beginning ? next(thread, attributes, begin_posix, beginning) : EAGAIN;

    if (error)
        free(beginning);
    return error;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): glibc's are reserved */
EXPORTED int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
    int (*const next)(thrd_t *, thrd_start_t, void *) = dlsym(RTLD_NEXT, "thrd_create");
    struct beginning *const beginning = remember((union run){.of_c = run}, argument);
    const int error = next && beginning ? next(thread, begin_c, beginning) : thrd_nomem;

    if (error != thrd_success)
        free(beginning);
    return error;
}
