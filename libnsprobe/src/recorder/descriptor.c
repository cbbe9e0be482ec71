/* SPDX-License-Identifier: MIT */
/* Descriptor -> identity of its file. */
#include "descriptor.h"

#include <errno.h>

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

    return fd >= 0 && nsp_descriptor_note(fd, &found) == 0 && found.device == noted->device && found.inode == noted->inode;
}
