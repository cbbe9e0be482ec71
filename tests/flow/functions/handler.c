// SPDX-License-Identifier: MIT
// Threads whose first call of a recorded function comes from a signal handler, for
// functions_test.py: prints how often memory was allocated inside of one.
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <threads.h>

#define THREADS 8

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static __thread volatile int in_handler;
static volatile int allocations;

void *malloc(size_t bytes)
{
    allocations += in_handler;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    allocations += in_handler;
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    allocations += in_handler;
    return __libc_realloc(old, bytes);
}

__attribute__((noinline)) void handle(void)
{
    __asm__ volatile("");
}

static void on_signal(int number)
{
    (void)number;
    in_handler = 1;
    handle();
    in_handler = 0;
}

static void *run(void *given)
{
    raise(SIGUSR1);
    return given;
}

static int run_c(void *given)
{
    (void)given;
    raise(SIGUSR1);
    return 7;
}

int main(void)
{
    pthread_t thread;
    thrd_t of_c;
    int sum = 0, result = 0;

    signal(SIGUSR1, on_signal);
    for (int i = 0; i < THREADS; ++i) {
        void *got = NULL;

        pthread_create(&thread, NULL, run, &sum);
        pthread_join(thread, &got);
        sum += got == &sum;
        thrd_create(&of_c, run_c, NULL);
        thrd_join(of_c, &result);
        sum += result;
    }
    printf("allocations %d sum %d\n", allocations, sum);
    return 0;
}
