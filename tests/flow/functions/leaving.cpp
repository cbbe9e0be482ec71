// SPDX-License-Identifier: MIT
// Functions that are left in every way, for functions_test.py: exceptions, longjmp(), signals,
// cancelled and exiting threads, fork().
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include <atomic>
#include <execinfo.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline))
#define NOT_LAST asm volatile("") // so that the call before is not a jump

std::atomic<long> caught{0}, destroyed{0};

struct Guard {
    ~Guard() { ++destroyed; }
};

namespace net
{
template <class T> struct Table {
    FUNCTION T find(T key)
    {
        NOT_LAST;
        if (key % 3 == 0)
            throw std::runtime_error("not there");
        return key;
    }
};
} // namespace net

FUNCTION long inner(long key)
{
    Guard guard;
    net::Table<long> table;
    return table.find(key) + 1;
}

FUNCTION long middle(long key)
{
    Guard guard;
    const long found = inner(key);
    NOT_LAST;
    return found;
}

FUNCTION long catching(long key)
{
    try {
        return middle(key);
    } catch (const std::exception &) {
        ++caught;
        return -1;
    }
}

FUNCTION long rethrowing(long key)
{
    try {
        return middle(key);
    } catch (...) {
        Guard guard;
        throw;
    }
}

jmp_buf before_jump;

FUNCTION void jump_from(int depth)
{
    NOT_LAST;
    if (depth == 0)
        longjmp(before_jump, 1);
    jump_from(depth - 1);
    NOT_LAST;
}

FUNCTION void handle()
{
    NOT_LAST;
}

void on_signal(int)
{
    handle();
}

FUNCTION int frames_at(int depth)
{
    if (depth > 0) {
        const int frames = frames_at(depth - 1);
        NOT_LAST;
        return frames;
    }
    void *addresses[256];
    return backtrace(addresses, 256);
}

FUNCTION void *wait_for_cancel(void *)
{
    Guard guard;
    for (;;)
        usleep(1000);
}

FUNCTION void exit_at(int depth)
{
    Guard guard;
    if (depth == 0)
        pthread_exit(nullptr);
    exit_at(depth - 1);
    NOT_LAST;
}

void throw_in_threads()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
            for (int key = 0; key < 900; ++key) {
                catching(key);
                try {
                    rethrowing(key);
                } catch (...) {
                    ++caught;
                }
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    std::printf("caught %ld\n", caught.load());
}

void take_signals()
{
    stack_t stack{};
    stack.ss_size = 65536;
    stack.ss_sp = std::malloc(stack.ss_size);
    sigaltstack(&stack, nullptr);
    struct sigaction action {
    };
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_flags = 0;
    sigaction(SIGUSR2, &action, nullptr);
    for (int i = 0; i < 50; ++i) {
        raise(SIGUSR1);
        raise(SIGUSR2);
    }
    sigaction(SIGALRM, &action, nullptr); // at any instruction of the trampolines
    ualarm(200, 200);
    for (int i = 0; i < 50000; ++i)
        catching(1);
    ualarm(0, 0);
}

int main()
{
    throw_in_threads();
    for (volatile int i = 0; i < 100; i = i + 1)
        if (setjmp(before_jump) == 0)
            jump_from(5);
    take_signals();
    std::printf("frames %s\n", frames_at(10) > 11 ? "all" : "missing");
    const long before = destroyed;
    pthread_t waiting;
    pthread_create(&waiting, nullptr, wait_for_cancel, nullptr);
    usleep(20000);
    pthread_cancel(waiting);
    void *result;
    pthread_join(waiting, &result);
    std::printf("cancelled %d %ld\n", result == PTHREAD_CANCELED, destroyed - before);
    std::thread([] { exit_at(3); }).join();
    std::printf("exited %ld\n", destroyed - before - 1);
    std::fflush(stdout);
    if (fork() == 0) {
        for (int key = 1; key <= 9; ++key)
            catching(key);
        _exit(caught == 2403 ? 0 : 1);
    }
    int status;
    wait(&status);
    std::printf("child %d\n", WEXITSTATUS(status));
    return 0;
}
