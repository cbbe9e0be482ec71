/* SPDX-License-Identifier: MIT */
/* Sessions: options -> rings, counters and a trace file for this process. */
#ifndef NSPROBE_SESSION_H
#define NSPROBE_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include <nslice/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nsp_clock_mode {
    NSP_CLOCK_FAST = 0,    /* plain clock read; neighbouring instructions may overlap it */
    NSP_CLOCK_ORDERED = 1, /* fenced at the ends of each probe: a slice holds its own instructions only, at twice the cost */
};

enum nsp_counter_source {
    NSP_SOURCE_AUTO = 0,      /* the first of rdpmc, perf-read, step that works */
    NSP_SOURCE_RDPMC = 1,     /* user-space counter reads through the perf page */
    NSP_SOURCE_PERF_READ = 2, /* one read() system call a probe */
    NSP_SOURCE_STEP = 3,      /* exact instruction counts by single-stepping; about 10 us an instruction */
    NSP_SOURCE_NONE = 4,      /* clock only */
    NSP_SOURCE_PAPI = 5,      /* PAPI's event sets and names; not in signal handlers */
};

enum nsp_memory {
    NSP_MEMORY_AUTO = 0,    /* the kernel module's where it is loaded and open to the user, else the process's own */
    NSP_MEMORY_PROCESS = 1, /* the process's own: gone with it */
    NSP_MEMORY_NSMOD = 2,   /* the kernel module's: what was committed can be read after a kill */
};

enum nsp_drained_by {
    NSP_DRAINED_BY_PROCESS = 0, /* into the session's own trace file */
    NSP_DRAINED_BY_NSMOD = 1,   /* by whoever reads the module's device (`cat /dev/nsmod > trace.nsl`); no trace file here */
};

/* All zero but struct_size is a session with the defaults.  Strings are copied. */
struct nsp_session_config {
    size_t struct_size;         /* sizeof(struct nsp_session_config): tells versions apart */
    const char *output;         /* trace file; "%p" becomes the process id.  NULL: "netslice.%p.nsl" */
    const char *counters;       /* comma-separated names, see counters.h, e.g. "instructions"; NULL or "": clock only */
    enum nsp_counter_source source;
    enum nsp_clock_mode clock;
    enum nslice_ring_full full;
    uint64_t ring_bytes;        /* data bytes of one CPU's ring, a power of two from 4 KiB; 0: 4 MiB */
    uint32_t step_every;        /* source step: count every n-th unit only; 0: all */
    uint32_t ring_kind;         /* enum nslice_ring_kind, 0: rseq where glibc has registered it, else atomic */
    uint32_t no_calibration;    /* nonzero: skip it (the trace then has no correction) */
    enum nsp_memory memory;     /* where the rings are */
    enum nsp_drained_by drained_by;
    uint32_t has_file;          /* nonzero: the trace goes to `file`; `output` is what messages call it */
    int file;                   /* open to write, and to read unless it is empty; an older trace in it is replaced.  Stays the caller's */
};

/* Records by fate.  issued == drained + sum of lost once a session is closed. */
struct nsp_session_counts {
    uint64_t issued;
    uint64_t drained;
    uint64_t lost[8]; /* by enum nslice_lost; as many places as the file's footer has */
    uint64_t file_bytes;
};

/*
 * One session a process at a time.  All functions may be called from any
 * thread, but not from a signal handler.  0 or -errno; nsp_last_error() has
 * the words: what, where, what to do.
 *
 *	-EBUSY    a session is open already (or the process runs under `nsdump record`)
 *	-EINVAL   unknown option or value
 *	-ENOTSUP  the counters cannot be had from the source asked for
 *	other     from open(), mmap(), memfd_create() ...
 *
 * After fork() the child's probes are off, since the drain stays with the
 * parent; the child may open a session of its own.  Under `nsdump record` the
 * child goes on writing into the shared rings.  exec() ends a session that the
 * process opened for itself without its closing, what was committed until the
 * last drain is in the file.
 */
int nsp_session_open(const struct nsp_session_config *config);

/* Turns probes off, waits for those under way, drains, writes the footer.  counts may be NULL. */
int nsp_session_close(struct nsp_session_counts *counts);

/* Nonzero while the process's probes record, in whoever's session.  Any thread. */
int nsp_session_is_on(void);

/* Flight recorder: writes what the rings hold now to the trace file and goes on.  Policy overwrite only. */
int nsp_session_snapshot(void);

/*
 * Options as text: `key=value` parted by spaces or ';'.  With NETSLICE, in the same form, in the environment the
 * session is that one: it opens before main(), and this leaves it as it is.  Keys: output, counters, source (auto, rdpmc, perf-read, papi, step, none), clock
 * (fast, ordered), full (discard, overwrite), ring (bytes, with K, M or G), kind (rseq, atomic), step-every,
 * calibration (yes, no), memory (auto, process, nsmod), recorder (process, nsmod), attach (yes: no session now, but accept `nsdump record --pid`).
 */
int nsp_session_configure(const char *options);

/* As above, for NET_SLICE_CONF: tells a failure on standard error as well. */
int nsp_session_conf(const char *options);

/* Text for the calling thread's last failure; valid until its next call. */
const char *nsp_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_SESSION_H */
