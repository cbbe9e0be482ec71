/* SPDX-License-Identifier: MIT */
/* Failures: error text -> the thread's last error. */
#include "error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <nsprobe/session.h>

/*
 * On the heap: thread-local memory of this library is in the static TLS block, which is small in a
 * program that loads it by dlopen().
 */
static __thread char *last_error;
static __thread int has_no_room;
static pthread_key_t at_thread_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void release(void *text)
{
    last_error = NULL;
    free(text);
}

static void make_key(void)
{
    pthread_key_create(&at_thread_exit, release);
}

static char *room(void)
{
    if (last_error)
        return last_error;
    pthread_once(&once, make_key);
    last_error = malloc(NSP_ERROR_BYTES);
    pthread_setspecific(at_thread_exit, last_error);
    return last_error;
}

int nsp_fail(int err, const char *format, ...)
{
    char *const text = room();
    va_list args;

    has_no_room = !text;
    if (!text)
        return err;
    va_start(args, format);
    vsnprintf(text, NSP_ERROR_BYTES, format, args);
    va_end(args);
    return err;
}

const char *nsp_last_error(void)
{
    if (has_no_room)
        return "out of memory";
    return last_error ? last_error : "no error";
}
