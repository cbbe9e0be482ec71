/* SPDX-License-Identifier: MIT */
/* A thread's own table of descriptors, out of reach of a program that closes all that it did not open. */
#ifndef NSP_OWN_DESCRIPTORS_H
#define NSP_OWN_DESCRIPTORS_H

/*
 * From here on the calling thread's table is its own, and empty but for
 * /dev/null at the standard places: what it opens nobody closes, what the
 * program closes is closed.  0; -errno where the kernel cannot (before 5.9, or
 * a sandbox refuses): the table is the program's as before.
 */
int nsp_take_own_descriptors(void);

#endif /* NSP_OWN_DESCRIPTORS_H */
