/* SPDX-License-Identifier: MIT */
/* Identity of a descriptor's file, since a program may close it and reuse the number. */
#ifndef NSP_DESCRIPTOR_H
#define NSP_DESCRIPTOR_H

#include <sys/stat.h>

struct nsp_descriptor_file {
    dev_t device;
    ino_t inode;
};

/* Returns 0 or -errno. */
int nsp_descriptor_note(int fd, struct nsp_descriptor_file *out);

/* Whether the descriptor still refers to the noted file. */
int nsp_descriptor_is(int fd, const struct nsp_descriptor_file *noted);

#endif /* NSP_DESCRIPTOR_H */
