/* SPDX-License-Identifier: MIT */
/* The kernel module's device, for tools: its sessions, what it can record, readers. */
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
 * All functions: any thread; return 0 or -errno with the reason in nsp_last_error().
 * -ENODEV: no module; -EACCES: permission denied; -EPROTO: module version mismatch.
 */

/* Sessions that the caller may read: stores up to `room` at `entries`; *count may be larger. */
int nsp_nsmod_sessions(struct nslice_session_entry *entries, uint32_t room, uint32_t *count);

/*
 * The groups of places in the kernel: lines of tab-separated fields as described in
 * nsmod/ABI.md.  *text is zero-terminated and belongs to the caller, who frees it with free().
 */
int nsp_nsmod_groups(char **text);

/*
 * Measures the cost of machine instructions and of the kernel's own probes on a CPU,
 * in `batches` batches (10 to NSLICE_MEASURE_MAX_BATCHES; 0: 200): lines as described
 * in nsmod/ABI.md.  *text as above.  -EPERM: permission denied; -ENXIO: no such CPU, or
 * it is offline; -ENOTTY: the module cannot measure.
 */
int nsp_nsmod_measure(uint32_t cpu, uint32_t batches, char **text);

/*
 * Opens a reader of a session: returns a descriptor that yields a whole trace and belongs
 * to the caller, or -errno.  flags: NSLICE_READER_*.  -ENOENT: no such session; -EBUSY: it
 * has a reader, or its process drains it; -EINVAL: a snapshot of a session that is not a
 * flight recorder.
 */
int nsp_nsmod_read_session(uint32_t session, uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_NSMOD_H */
