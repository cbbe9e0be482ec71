/* SPDX-License-Identifier: GPL-2.0 */
/* A reader's thread: a session's part, the kernel's part or both -> a trace file or chunks. */
#ifndef NSMOD_READER_H
#define NSMOD_READER_H

#include <linux/types.h>

#include <nslice/control.h>

struct iov_iter;
struct nsmod_kernel_request;
struct nsmod_reader;

/* For whole traces: flags and session of NSLICE_IOC_READER.  Or ERR_PTR(). */
struct nsmod_reader *nsmod_reader_open(u32 session, u32 flags);

/* For the oldest waiting session and the groups of the parameter `groups`.  Or ERR_PTR(). */
struct nsmod_reader *nsmod_reader_open_plain(void);

/* For the kernel's part only; the request is as for nsmod_kernel_part_start().  Or ERR_PTR(). */
struct nsmod_reader *nsmod_reader_open_kernel(const struct nsmod_kernel_request *request);

/* NSLICE_IOC_SLICES.  0 or -errno; -EBADFD: not the kernel's recorder, or its recording has ended. */
int nsmod_reader_select(struct nsmod_reader *reader, const char *slices);

/* NSLICE_IOC_END: remaining data can be read, then end of file. */
void nsmod_reader_end(struct nsmod_reader *reader);

ssize_t nsmod_reader_read(struct nsmod_reader *reader, struct iov_iter *to, bool is_nonblocking);

struct wait_queue_head *nsmod_reader_wait(struct nsmod_reader *reader);
bool nsmod_reader_is_readable(struct nsmod_reader *reader);

void nsmod_reader_close(struct nsmod_reader *reader);

#endif /* NSMOD_READER_H */
