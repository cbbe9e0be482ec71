/* SPDX-License-Identifier: MIT */
/* A thread's own descriptor table, independent of what the program closes. */
#ifndef NSP_OWN_DESCRIPTORS_H
#define NSP_OWN_DESCRIPTORS_H

/*
 * Gives the calling thread its own descriptor table, empty except for /dev/null as
 * standard input, output and error: the program cannot close what the thread opens, and
 * what the program closes does not stay open here.  Returns 0, or -errno if the kernel
 * cannot (before 5.9, or refused by a sandbox), -ENOTSUP under ThreadSanitizer: the table
 * is then still the program's.
 */
int nsp_take_own_descriptors(void);

#endif /* NSP_OWN_DESCRIPTORS_H */
