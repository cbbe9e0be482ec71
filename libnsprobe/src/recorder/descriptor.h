/* SPDX-License-Identifier: MIT */
/* Identity of a descriptor's file, since a program may close it and reuse the number. */
#ifndef NSP_DESCRIPTOR_H
#define NSP_DESCRIPTOR_H

#include <sys/stat.h>

#define NSP_HIGH_DESCRIPTOR 900 /* below the usual limit of 1024 */

struct nsp_descriptor_file {
    dev_t device;
    ino_t inode;
};

/* Returns 0 or -errno. */
int nsp_descriptor_note(int fd, struct nsp_descriptor_file *out);

/* Whether the descriptor still refers to the noted file. */
int nsp_descriptor_is(int fd, const struct nsp_descriptor_file *noted);

int nsp_descriptor_same_file(const struct stat *a, const struct stat *b);

/*
 * Moves the descriptor away from the numbers that the program's next files get: otherwise a number
 * closed during a write could soon be one of its files.  Returns fd itself if the limit is lower.
 */
int nsp_descriptor_move_up(int fd);

#endif /* NSP_DESCRIPTOR_H */
