/* SPDX-License-Identifier: MIT */
/* thread_sanitizer: threads with probes, slices named at run time and handlers with probes; files
   are open throughout. $1: iterations per thread; other arguments: conf=OPTIONS opens a session
   from code, three times; snapshot, fork: as named; wait: until SIGTERM. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nsprobe/probe.h>

enum { THREADS = 4, UNITS = 50, FILES = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared, turns;
static volatile sig_atomic_t stop;

static void on_user_signal(int number)
{
    (void)number;
    NET_SLICE_START(handler);
    NET_SLICE_STOP(handler);
}

static void on_term(int number)
{
    (void)number;
    stop = 1;
}

static void sleep_ms(long ms)
{
    const struct timespec time = {0, ms * 1000000};

    nanosleep(&time, NULL);
}

static void work(struct nsp_slice *slice)
{
    NET_SLICE_START_AT(slice);
    for (int i = 0; i < UNITS; ++i) {
        NET_SLICE_INIT(unit, i, 1, 64);
        NET_SLICE_START(locked);
        pthread_mutex_lock(&lock);
        NET_SLICE_MARK(shared, shared++);
        pthread_mutex_unlock(&lock);
        NET_SLICE_STOP(locked);
        NET_SLICE_EXIT(unit);
    }
    NET_SLICE_STOP_AT(slice);
}

static void *run(void *argument)
{
    const int thread = *(const int *)argument;
    char name[32];

    for (long turn = 0; turn < turns; ++turn) {
        snprintf(name, sizeof(name), "slice_%d_%ld", thread, turn % 10);
        work(NET_SLICE_CREATE(name));
        if (turn == 1)
            raise(SIGUSR1);
        sleep_ms(1);
    }
    return NULL;
}

static void fork_a_child(void)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        NET_SLICE_START(child);
        NET_SLICE_STOP(child);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (status)
        exit(5);
}

static void run_threads(int snapshot, int fork_too)
{
    pthread_t threads[THREADS];
    static int numbers[THREADS];

    for (int i = 0; i < THREADS; ++i) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, run, &numbers[i]);
    }
    for (int i = 0; snapshot && i < 10; ++i, sleep_ms(1))
        if (nsp_session_snapshot())
            exit(4);
    if (fork_too)
        fork_a_child();
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
}

static const char *option(char **words, const char *name)
{
    for (; *words; ++words)
        if (strncmp(*words, name, strlen(name)) == 0)
            return *words + strlen(name);
    return NULL;
}

int main(int argc, char **argv)
{
    char **words = argv + (argc > 1 ? 2 : 1);
    const char *conf = option(words, "conf=");
    int files[FILES];

    for (int i = 0; i < FILES; ++i)
        files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    turns = argc > 1 ? atol(argv[1]) : 1;
    signal(SIGUSR1, on_user_signal);
    signal(SIGTERM, on_term);
    for (int round = 0; round < (conf ? 3 : 1); ++round) {
        if (conf && nsp_session_conf(conf))
            return 3;
        do {
            run_threads(option(words, "snapshot") != NULL, option(words, "fork") != NULL);
        } while (option(words, "wait") && !stop);
        if (conf && nsp_session_close(NULL))
            return 4;
    }
    for (int i = 0; i < FILES; ++i)
        close(files[i]);
    return 0;
}
