/* SPDX-License-Identifier: MIT */
/* Standard files: closed ones -> ones that fail.  For the first line of main(). */
#ifndef COMMAND_STANDARD_FILES_H
#define COMMAND_STANDARD_FILES_H

#include <fcntl.h>
#include <unistd.h>

/* Prevents a file opened later from becoming standard output and receiving printed text. */
static inline void command_keep_standard_files(void)
{
    int fd;

    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(3);
}

#endif /* COMMAND_STANDARD_FILES_H */
