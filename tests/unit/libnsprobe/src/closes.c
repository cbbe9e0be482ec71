/* SPDX-License-Identifier: MIT */
/* Helper program: closes every descriptor that it did not open, opens its own files in folder $1,
   does $2 units of work, repeatedly closes again what it did not open, and reports whether its
   files have the contents that it wrote. $3, if given, is the directory to change to first. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nsprobe/probe.h>

enum { FILES = 32 };

static const char text[] = "mine";

static int is_as_written(int fd)
{
    char found[sizeof(text) + 1];

    return pread(fd, found, sizeof(found), 0) == (ssize_t)sizeof(text) &&
           memcmp(found, text, sizeof(text)) == 0;
}

int main(int argc, char **argv)
{
    const struct timespec pause = {0, 1000000};
    const long units = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    int files[FILES], spoilt = 0;
    char name[4096];

    if (argc < 3 || (argc > 3 && chdir(argv[3])))
        return 2;
    close_range(3, ~0u, 0);
    for (int i = 0; i < FILES; ++i) {
        snprintf(name, sizeof(name), "%s/own.%d", argv[1], i);
        files[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (files[i] < 0 || write(files[i], text, sizeof(text)) != (ssize_t)sizeof(text))
            return 2;
    }
    for (long i = 0; i < units; ++i) {
        NET_SLICE_START(work);
        NET_SLICE_STOP(work);
        if (i % 100 == 0)
            nanosleep(&pause, NULL);
        if (i % 2 == 0)
            close_range((unsigned)files[FILES - 1] + 1, ~0u, 0);
    }
#ifndef NETSLICE_DISABLE
    if (nsp_session_close(NULL) < 0 && getenv("NETSLICE"))
        fprintf(stderr, "%s\n", nsp_last_error());
#endif
    for (int i = 0; i < FILES; ++i)
        spoilt += !is_as_written(files[i]);
    printf("%d files spoilt\n", spoilt);
    return spoilt > 0;
}
