/* SPDX-License-Identifier: GPL-2.0 */
/* Requests from user space: copied once, checked, answered. */
#ifndef NSMOD_REQUEST_H
#define NSMOD_REQUEST_H

#include <linux/types.h>

#include <nslice/control.h>

#define NSMOD_MAX_GROUPS_BYTES 256 /* of names of groups, with terminator */

/*
 * Copies a request of `known` bytes; the caller's may be shorter or longer, but
 * the unknown part must be zero.  0 or -errno.
 */
int nsmod_request_take(void *request, size_t known, const void __user *from);

/* Copies as much of the answer as the caller's request has room for. */
int nsmod_request_answer(void __user *to, const void *request, size_t known);

/* A kernel request with the data that it points to.  Free with nsmod_kernel_request_free(). */
struct nsmod_kernel_request {
	struct nslice_kernel_request fixed;
	char *groups;
	char *slices; /* valid rules; NULL: all */
	struct nslice_kernel_counter counters[NSLICE_MAX_COUNTERS]; /* fixed.counters_count of them */
};

int nsmod_request_take_kernel(struct nsmod_kernel_request *request, const void __user *from);
void nsmod_kernel_request_free(struct nsmod_kernel_request *request);

/* *slices: as above, belongs to the caller. */
int nsmod_request_take_slices(char **slices, const void __user *from);

bool nsmod_is_ring_size(u64 bytes);

#endif /* NSMOD_REQUEST_H */
