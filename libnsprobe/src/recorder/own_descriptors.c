/* SPDX-License-Identifier: MIT */
/* A thread's own descriptor table: copied and emptied in one step, keeping no program file open. */
#define _GNU_SOURCE
#include "own_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "writer/thread_sanitizer.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

int nsp_take_own_descriptors(void)
{
    /* ThreadSanitizer knows one table, and takes a number used in two tables for a race. */
    if (nsp_has_thread_sanitizer())
        return -ENOTSUP;
    if (close_range(0, ~0u, CLOSE_RANGE_UNSHARE))
        return -errno;
    /*
     * Output to standard error, e.g. from the C library, must not go to a file that reuses the
     * number.
     */
    for (int place = STDIN_FILENO; place <= STDERR_FILENO; ++place)
        if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            memfd_create("netslice-null", MFD_CLOEXEC);
    return 0;
}
