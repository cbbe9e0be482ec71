/* SPDX-License-Identifier: MIT */
/* Are this process's thread ids those of the whole machine, as the kernel's records have them? */
#include "pid_namespace.h"

#include <stdio.h>
#include <sys/stat.h>

/* Of the first pid namespace: a constant of the kernel's interface (PROC_PID_INIT_INO). */
#define FIRST_NAMESPACE_INODE 0xeffffffcUL

size_t nsp_pid_namespace_text(char *text, size_t room)
{
    struct stat status;
    int length = 0;

    text[0] = 0;
    if (stat("/proc/self/ns/pid", &status))
        length = snprintf(text, room, "program.pid_namespace=unknown\n");
    else if (status.st_ino != FIRST_NAMESPACE_INODE)
        length = snprintf(text, room, "program.pid_namespace=%lu\n", (unsigned long)status.st_ino);
    return length < 0 || (size_t)length >= room ? 0 : (size_t)length;
}
