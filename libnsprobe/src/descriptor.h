/* SPDX-License-Identifier: MIT */
/* Which file a descriptor is of: a program may close all that it did not open, and its own files get the numbers. */
#ifndef NSP_DESCRIPTOR_H
#define NSP_DESCRIPTOR_H

#include <sys/stat.h>

struct nsp_descriptor_file {
    dev_t device;
    ino_t inode;
};

/* 0 or -errno. */
int nsp_descriptor_note(int fd, struct nsp_descriptor_file *out);

/* Whether the number is still of the file that was noted. */
int nsp_descriptor_is(int fd, const struct nsp_descriptor_file *noted);

#endif /* NSP_DESCRIPTOR_H */
