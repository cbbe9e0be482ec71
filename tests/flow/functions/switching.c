// SPDX-License-Identifier: MIT
// Functions that are left by a switch of stacks, for functions_test.py: coroutines and signal
// handlers whose stacks lie inside of a thread's own stack.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline))
#define NOT_LAST __asm__ volatile("") // so that the call before is not a jump
#define STACK_BYTES 65536
#define COROUTINES 2

static ucontext_t callers[COROUTINES], coroutines[COROUTINES];
static volatile int ticks;

FUNCTION int leaf(int n)
{
    NOT_LAST;
    return n + 1;
}

FUNCTION int branch(int n)
{
    const int sum = leaf(n) + leaf(n);
    NOT_LAST;
    return sum;
}

FUNCTION int yield_from(int own, int n)
{
    const int sum = branch(n);
    swapcontext(&coroutines[own], &callers[own]);
    return sum + branch(n);
}

FUNCTION int resume(int other)
{
    swapcontext(&callers[other], &coroutines[other]);
    NOT_LAST;
    return other;
}

static void run(int own)
{
    for (int n = 1;; ++n)
        printf("coroutine %d: %d\n", own, yield_from(own, n));
}

static void make(int number, char *stack)
{
    getcontext(&coroutines[number]);
    coroutines[number].uc_stack.ss_sp = stack;
    coroutines[number].uc_stack.ss_size = STACK_BYTES;
    makecontext(&coroutines[number], (void (*)(void))run, 1, number);
}

FUNCTION void alternate(int rounds)
{
    for (int i = 0; i < rounds; ++i) {
        for (int other = 0; other < COROUTINES; ++other)
            printf("resumed %d\n", resume(other));
        printf("between %d\n", branch(i));
    }
}

static void switch_inside(void)
{
    char stacks[COROUTINES][STACK_BYTES];

    for (int i = 0; i < COROUTINES; ++i)
        make(i, stacks[i]);
    for (int i = 0; i < 40; ++i)
        alternate(3);
}

static void *resume_from_thread(void *unused)
{
    for (int i = 0; i < 10; ++i)
        printf("thread: %d %d\n", resume(0), branch(i));
    return unused;
}

/* A coroutine on the stack of one thread is resumed by others. */
static void switch_threads(void)
{
    char stack[STACK_BYTES];
    pthread_t thread;

    make(0, stack);
    for (int i = 0; i < 5; ++i) {
        printf("first: %d %d\n", resume(0), branch(i));
        pthread_create(&thread, NULL, resume_from_thread, NULL);
        pthread_join(thread, NULL);
    }
}

static void on_signal(int number)
{
    (void)number;
    ticks += branch(ticks) - 2 * ticks - 1; /* 1 */
}

/* A signal at any instruction, on a stack above the functions that it interrupts. */
static void take_signals(void)
{
    char bytes[STACK_BYTES];
    stack_t stack = {.ss_sp = bytes, .ss_size = sizeof(bytes)};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    long sum = 0;

    sigaltstack(&stack, NULL);
    sigaction(SIGALRM, &action, NULL);
    ualarm(100, 100);
    for (int i = 0; ticks < 2000; ++i)
        sum += branch(i % 1000) - 2 * (i % 1000) - 2;
    ualarm(0, 0);
    printf("sum %ld\n", sum);
}

int main(int count, char **words)
{
    if (count == 2 && !strcmp(words[1], "inside"))
        switch_inside();
    if (count == 2 && !strcmp(words[1], "threads"))
        switch_threads();
    if (count == 2 && !strcmp(words[1], "signals"))
        take_signals();
    return 0;
}
