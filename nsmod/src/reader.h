/* SPDX-License-Identifier: GPL-2.0 */
/* A reader: a session's part, the kernel's part or both -> a trace file, or chunks for another's, by a thread of its own. */
#ifndef NSMOD_READER_H
#define NSMOD_READER_H

#include <linux/types.h>

#include <nslice/control.h>

struct iov_iter;
struct nsmod_kernel_request;
struct nsmod_reader;

/* Whole traces: NSLICE_IOC_READER's flags and session.  Or ERR_PTR(). */
struct nsmod_reader *nsmod_reader_open(u32 session, u32 flags);

/* The oldest session that waits, and the groups of the parameter `groups` beside it.  Or ERR_PTR(). */
struct nsmod_reader *nsmod_reader_open_plain(void);

/* The kernel's part alone, for another writer's file.  The request as nsmod_kernel_part_start() wants it.  Or ERR_PTR(). */
struct nsmod_reader *nsmod_reader_open_kernel(const struct nsmod_kernel_request *request);

/* NSLICE_IOC_END: what there is can be read, then comes the end. */
void nsmod_reader_end(struct nsmod_reader *reader);

ssize_t nsmod_reader_read(struct nsmod_reader *reader, struct iov_iter *to, bool is_nonblocking);

struct wait_queue_head *nsmod_reader_wait(struct nsmod_reader *reader);
bool nsmod_reader_is_readable(struct nsmod_reader *reader);

void nsmod_reader_close(struct nsmod_reader *reader);

#endif /* NSMOD_READER_H */
