/* SPDX-License-Identifier: MIT */
/* Helper program: does units of work until SIGTERM or until $2 of them are done. $1 is the option
   text, "-" for none; $3 is more option text, or "child-namespace": a child in its own pid
   namespace does the work, or "children": instead of work, each of $2 children connects to its own
   listener as soon as fork() returns. Prints how many units it wrote, or children connected. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nsprobe/probe.h>

static volatile sig_atomic_t stop;

static void on_term(int number)
{
    (void)number;
    stop = 1;
}

/* Does not return in the parent. */
static void go_on_in_child_namespace(void)
{
    int status = 0;
    pid_t child;

    if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
        exit(3);
    child = fork();
    if (child == 0)
        return;
    waitpid(child, &status, 0);
    _exit(child < 0 || status != 0);
}

static int connects_to_itself(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    const int bytes = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
                               "netslice.attach.%d", (int)getpid());

    return connect(connection, (struct sockaddr *)&address,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes)) == 0;
}

static int count_connected_children(unsigned long most)
{
    unsigned long connected = 0;

    for (unsigned long i = 0; i < most; ++i) {
        const pid_t child = fork();
        int status = 0;

        if (child == 0)
            _exit(!connects_to_itself());
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 3;
        connected += status == 0;
    }
    printf("%lu\n", connected);
    return 0;
}

int main(int argc, char **argv)
{
    const struct timespec pause = {0, 100000};
    unsigned long units = 0, most = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

    signal(SIGTERM, on_term);
    if (argc > 1 && strcmp(argv[1], "-") != 0 && NET_SLICE_CONF(argv[1]))
        return 3;
    if (argc > 3 && strcmp(argv[3], "children") == 0)
        return count_connected_children(most);
    if (argc > 3 && strcmp(argv[3], "child-namespace") == 0)
        go_on_in_child_namespace();
    else if (argc > 3 && NET_SLICE_CONF(argv[3]))
        return 3;
    puts("ready");
    fflush(stdout);
    while (!stop && (most == 0 || units < most)) {
        NET_SLICE_INIT(unit, units, 1, 64);
        NET_SLICE_START(work);
        NET_SLICE_STOP(work);
        NET_SLICE_EXIT(unit);
        ++units;
        nanosleep(&pause, NULL);
    }
    printf("%lu\n", units);
    return 0;
}
