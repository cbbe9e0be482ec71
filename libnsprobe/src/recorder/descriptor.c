/* SPDX-License-Identifier: MIT */
/* Descriptor -> identity of its file. */
#define _GNU_SOURCE
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int nsp_descriptor_note(int fd, struct nsp_descriptor_file *out)
{
    struct stat found;

    if (fstat(fd, &found))
        return -errno;
    *out = (struct nsp_descriptor_file){.device = found.st_dev, .inode = found.st_ino};
    return 0;
}

int nsp_descriptor_is(int fd, const struct nsp_descriptor_file *noted)
{
    struct nsp_descriptor_file found;

    return fd >= 0 && nsp_descriptor_note(fd, &found) == 0 && found.device == noted->device &&
           found.inode == noted->inode;
}

int nsp_descriptor_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int nsp_descriptor_move_up(int fd)
{
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, NSP_HIGH_DESCRIPTOR);

    if (high < 0)
        return fd;
    close(fd);
    return high;
}
