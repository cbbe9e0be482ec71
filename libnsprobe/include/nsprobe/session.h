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
    NSP_CLOCK_ORDERED = 1, /* fenced: a slice holds only its own instructions, at twice the cost */
};

enum nsp_counter_source {
    NSP_SOURCE_AUTO = 0,      /* the first of rdpmc, perf-read and step that works */
    NSP_SOURCE_RDPMC = 1,     /* user-space counter reads through the perf page */
    NSP_SOURCE_PERF_READ = 2, /* one read() system call per probe */
    NSP_SOURCE_STEP = 3,      /* exact instruction counts by single-stepping; about 10 us each */
    NSP_SOURCE_NONE = 4,      /* clock only */
    NSP_SOURCE_PAPI = 5,      /* PAPI's event sets and names; not in signal handlers */
};

enum nsp_memory {
    NSP_MEMORY_AUTO = 0,    /* the kernel module's if loaded and permitted, else the process's */
    NSP_MEMORY_PROCESS = 1, /* the process's own: freed when it exits */
    NSP_MEMORY_NSMOD = 2,   /* the kernel module's: committed records can be read after a kill */
};

enum nsp_drained_by {
    NSP_DRAINED_BY_PROCESS = 0, /* into the session's own trace file */
    /* by the reader of the module's device (`cat /dev/nsmod > trace.nsl`); no trace file here */
    NSP_DRAINED_BY_NSMOD = 1,
};

/* nsp_session_config.thin_permille for thin=auto. */
#define NSP_THIN_AUTO_PERMILLE 500

/* With all fields except struct_size zero, the session has the defaults.  Strings are copied. */
struct nsp_session_config {
    size_t struct_size;   /* sizeof(struct nsp_session_config): identifies the version */
    const char *output;   /* trace file; "%p" becomes the process id.  NULL: "netslice.%p.nsl" */
    const char *counters; /* comma-separated names, see counters.h, e.g. "instructions"; NULL or "":
                             clock only */
    enum nsp_counter_source source;
    enum nsp_clock_mode clock;
    enum nslice_ring_full full;
    uint64_t ring_bytes;     /* data bytes of one CPU's ring, a power of two from 4 KiB; 0: 4 MiB */
    uint32_t step_every;     /* source step: count only every n-th unit; 0: all */
    uint32_t ring_kind;      /* enum nslice_ring_kind; 0: rseq if glibc has it, else atomic */
    uint32_t no_calibration; /* nonzero: skip calibration (the trace then has no correction) */
    enum nsp_memory memory;  /* where the rings are */
    enum nsp_drained_by drained_by;
    uint32_t has_file; /* nonzero: write to `file`; `output` is its name in messages */
    /* Open for writing, and reading unless empty; replaces an older trace.  Stays the caller's. */
    int file;
    /*
     * Slices and marks to record, as comma-separated patterns of the shell: "filter*,!publish".  A
     * pattern with "!" excludes names.  NULL or "": all.  Units are always recorded.
     */
    const char *slices;
    /*
     * Random thinning: share of the time, in thousandths, in which some probes inside slices are
     * off, so that nsdump can measure what they cost there.  0: none.  Requires source none.
     */
    uint32_t thin_permille;
    /*
     * Nonzero: this process, or the programs that a recorder starts, accept nsp_control_slices().
     * That gives them a thread, which stays until they end.
     */
    uint32_t control;
    /*
     * Nonzero: each counter's register overflows after every so many events, for tests of the reads
     * (perf_event_attr.sample_period).  Only in the process's own session, with rdpmc or perf-read.
     */
    uint64_t counter_period;
};

/* Records by fate.  issued == drained + sum of lost once a session is closed. */
struct nsp_session_counts {
    uint64_t issued;
    uint64_t drained;
    uint64_t lost[8]; /* by enum nslice_lost; same size as in the file's footer */
    uint64_t file_bytes;
};

/*
 * A process can have one session at a time.  All functions may be called from any
 * thread, but not from a signal handler.  They return 0 or -errno; nsp_last_error()
 * has the reason and the remedy.
 *
 *	-EBUSY    a session is already open (or the process runs under `nsdump record`)
 *	-EINVAL   unknown option or value
 *	-ENOTSUP  the counters are unavailable from the requested source
 *	other     from open(), mmap(), memfd_create() ...
 *
 * After fork() the child's probes are off, since the drain stays with the
 * parent; the child may open its own session.  Under `nsdump record` the child
 * continues writing to the shared rings.  exec() ends a session that the process
 * opened for itself without closing it; records drained until then are in the file.
 */
int nsp_session_open(const struct nsp_session_config *config);

/*
 * Turns probes off, waits for probes in progress, drains, writes the footer.  counts may be NULL.
 */
int nsp_session_close(struct nsp_session_counts *counts);

/* Nonzero while the process's probes record, in its own session or another's.  Any thread. */
int nsp_session_is_on(void);

/*
 * Flight recorder: writes the current contents of the rings to the trace file and continues.
 * Policy overwrite only.
 */
int nsp_session_snapshot(void);

/*
 * Options as text: `key=value` separated by spaces or ';'.  If NETSLICE in the environment, in the
 * same form, has opened a session before main(), that session is left unchanged.  Keys: output,
 * counters, source (auto, rdpmc, perf-read, papi, step, none), clock (fast, ordered), full
 * (discard, overwrite), ring (bytes, with K, M or G), kind (rseq, atomic), step-every, calibration
 * (yes, no), memory (auto, process, nsmod), recorder (process, nsmod), slices (patterns), thin
 * (auto, off, or a share from 0 to 1), control (yes, no), attach (yes: no session now, but accept
 * `nsdump record --pid`).
 */
int nsp_session_configure(const char *options);

/* As above, for NET_SLICE_CONF: also reports a failure on standard error. */
int nsp_session_conf(const char *options);

/* Text of the calling thread's last failure; valid until its next call. */
const char *nsp_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_SESSION_H */
