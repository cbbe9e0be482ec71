/* SPDX-License-Identifier: MIT */
/* Whether this process's thread ids are those of the whole machine, as in kernel records. */
#include "pid_namespace.h"

#include <stdio.h>
#include <sys/stat.h>

/* Inode of the first pid namespace: a constant of the kernel's interface (PROC_PID_INIT_INO). */
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
