/* SPDX-License-Identifier: MIT */
/*
 * kills COUNT: vm_writer with both policies and ring kinds and several ring sizes, killed at random
 * times, COUNT times.  Each time the remaining trace is valid, and if no loss is reported, or with
 * policy overwrite, it contains the last committed record.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "device.h"
#include "trace.h"

#define TRACE_ROOM (64ul << 20)

static const char *const settings[] = {
    "recorder=nsmod calibration=no full=discard ring=4M",
    "recorder=nsmod calibration=no full=overwrite ring=64K",
    "recorder=nsmod calibration=no full=discard ring=4K",
    "recorder=nsmod calibration=no full=overwrite ring=4K",
    "recorder=nsmod calibration=no full=discard ring=4M kind=atomic",
    "recorder=nsmod calibration=no full=overwrite ring=64K kind=atomic",
    "recorder=nsmod calibration=no full=discard ring=4K kind=atomic",
    "recorder=nsmod calibration=no full=overwrite ring=4K kind=atomic",
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

/* The last number that the writer stored; 0: none yet. */
static uint64_t number_in_file(void)
{
    const int fd = open("count", O_RDONLY);
    uint64_t number = 0;

    if (read(fd, &number, sizeof(number)) != sizeof(number))
        number = 0;
    close(fd);
    return number;
}

/* The last number that the writer has certainly committed. */
static uint64_t kill_one(const char *setting, unsigned delay_us)
{
    pid_t child;

    unlink("count");
    child = fork();
    if (child == 0) {
        setenv("NETSLICE", setting, 1);
        execlp("vm_writer", "vm_writer", "0", "count", NULL);
        _exit(127);
    }
    while (number_in_file() == 0 && waitpid(child, NULL, WNOHANG) == 0)
        usleep(500);
    usleep(delay_us);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return number_in_file();
}

static uint64_t read_all(char *bytes)
{
    const int fd = open_device(O_RDONLY);
    uint64_t count = 0;
    ssize_t got;

    while ((got = read(fd, bytes + count, TRACE_ROOM - count)) > 0)
        count += (uint64_t)got;
    must(got != 0, "read");
    close(fd);
    return count;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 0;
    const unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : (unsigned)time(NULL);
    char *bytes = map_session(open("/dev/zero", O_RDWR), TRACE_ROOM);
    uint64_t lost = 0, records = 0;
    struct trace trace;
    int failed = 0;

    printf("kills: seed %u\n", seed);
    srand(seed);
    for (int i = 0; i < count; ++i) {
        const char *setting = settings[(unsigned)i % SETTINGS];
        const uint64_t committed = kill_one(setting, (unsigned)rand() % 20000);
        const char *fault = read_trace(&trace, bytes, read_all(bytes));
        const int holds_last = strstr(setting, "overwrite") || trace.user.lost == 0;

        lost += trace.user.lost;
        records += trace.user.records;
        if (!fault && (committed == 0 || (holds_last && trace.user.last_mark < committed)))
            fault = "a committed record is missing";
        if (!fault)
            continue;
        ++failed;
        printf("run %d, %s: %s; committed %llu, in the trace up to %llu\n", i, setting, fault,
               (unsigned long long)committed, (unsigned long long)trace.user.last_mark);
    }
    printf("kills: %d, %d failed; %llu records, %llu lost and counted\n", count, failed,
           (unsigned long long)records, (unsigned long long)lost);
    return failed ? 1 : 0;
}
