/* SPDX-License-Identifier: MIT */
/* The kernel module's device, for tools: which sessions it has, what it can record, readers. */
#ifndef NSPROBE_NSMOD_H
#define NSPROBE_NSMOD_H

#include <stddef.h>
#include <stdint.h>

#include <nslice/control.h>

#include <nsprobe/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All: any thread; 0 or -errno with words in nsp_last_error(), -ENODEV no
 * module, -EACCES not for this user, -EPROTO a module of another version.
 */

/* Sessions that the caller may read: up to `room` at `entries`; *count may be more. */
int nsp_nsmod_sessions(struct nslice_session_entry *entries, uint32_t room, uint32_t *count);

/*
 * The groups of places in the kernel: lines of fields parted by tabs, as
 * nsmod/ABI.md has them.  *text is terminated, the caller's, for free().
 */
int nsp_nsmod_groups(char **text);

/*
 * What machine instructions and the kernel's own probes cost on a CPU, measured
 * now, in `batches` batches (10 to NSLICE_MEASURE_MAX_BATCHES; 0: 200): lines as
 * nsmod/ABI.md has them.  *text as above.  -EPERM not for this user, -ENXIO no
 * such CPU or it is off, -ENOTTY the module does not measure.
 */
int nsp_nsmod_measure(uint32_t cpu, uint32_t batches, char **text);

/*
 * A reader of a session: a descriptor that gives a whole trace, the caller's,
 * or -errno.  flags: NSLICE_READER_*.  -ENOENT no such session, -EBUSY it has a
 * reader or its process drains it, -EINVAL a snapshot of a session that is no
 * flight recorder.
 */
int nsp_nsmod_read_session(uint32_t session, uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_NSMOD_H */
