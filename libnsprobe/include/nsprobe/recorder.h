/* SPDX-License-Identifier: MIT */
/* Recorder: a session whose rings one process drains while others write. For `nsdump record` and its like. */
#ifndef NSPROBE_RECORDER_H
#define NSPROBE_RECORDER_H

#include <stdint.h>

#include <nsprobe/file.h>
#include <nsprobe/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * At file scope of a program that links the library to record or read what
 * others write: it opens no session of its own and joins none, whatever the
 * environment says.  That speaks to the programs which it starts.
 */
#define NSP_IGNORE_ENVIRONMENT const int nsp_detail_ignore_environment = 1
extern const int nsp_detail_ignore_environment;

struct nsp_recorder;

struct nsp_recorder_status {
    uint32_t joined;          /* processes that took part */
    uint32_t refused;         /* processes that wanted to and could not */
    const char *refusal;      /* the last one's reason; lives as long as the recorder */
    struct nsp_session_counts counts;
    uint64_t kernel_records;  /* in the file so far */
};

/* The kernel's side, recorded by the module nsmod on the same clock.  Zero is a default. */
struct nsp_kernel_config {
    size_t struct_size;   /* sizeof(struct nsp_kernel_config): tells versions apart */
    const char *groups;   /* comma-separated, e.g. "net_rx,irq"; `nsdump kernel --list` has all */
    const char *counters; /* comma-separated names, of each CPU; NULL or "": clock only */
    uint64_t ring_bytes;  /* data bytes of one CPU's ring; 0: 1 MiB */
    uint32_t pid;         /* of places that run in a process: this one's only; 0: all */
    uint32_t port;        /* of places that see packets: those of this port only; 0: all */
    uint32_t protocol;    /* IPPROTO_*, with port; 0: all */
};

/*
 * Makes the session's memory and opens the trace file, which stays as it is
 * until the first process takes part.  *out is the caller's until
 * nsp_recorder_close().  One thread at a time.  0 or -errno, words in nsp_last_error():
 *
 *	-EINVAL   the configuration is wrong: an unknown counter, a ring size that is none ...
 *	-ENOTSUP  counters or kind of ring are not to be had on this machine
 *	-ENOMEM   rings larger than the memory that is left
 *	other     the trace file: -EEXIST it is something else than a trace, -EBUSY another
 *	          session writes it, -ENXIO it is a pipe that nobody reads yet ...
 */
int nsp_recorder_open(const struct nsp_session_config *config, struct nsp_recorder **out);

/*
 * For a program to be started: call in the child between fork() and exec().
 * Sets the environment variable that the library looks for and lets the descriptor live on.
 */
int nsp_recorder_prepare_exec(struct nsp_recorder *recorder);

/* Attaches to a running process that accepts it (NET_SLICE_CONF("attach=yes") or NETSLICE=attach=yes).  0 or -errno. */
int nsp_recorder_attach(struct nsp_recorder *recorder, int pid);

/*
 * Before the first pass.  The file then begins at once, whether or not a process takes part.  0 or -errno with words: -ENODEV
 * no module, -EPERM no CAP_PERFMON, -EINVAL a group or counter that is none, -ENOTSUP or -EOPNOTSUPP counters that this
 * machine has not, -EBUSY somebody records the kernel already.
 */
int nsp_recorder_add_kernel(struct nsp_recorder *recorder, const struct nsp_kernel_config *config);

/* Ends the kernel's recording and takes what is left of it; to be called before nsp_recorder_close().  counts: its own. */
int nsp_recorder_end_kernel(struct nsp_recorder *recorder, struct nsp_session_counts *counts);

/* Writes what is committed; returns the bytes taken from the fullest ring: sleep when it is small. */
uint64_t nsp_recorder_pass(struct nsp_recorder *recorder);

/*
 * Policy overwrite: looks at the rings without draining them.  Once a second or so,
 * since positions tell apart no more than 2^32 units between two looks.
 */
void nsp_recorder_watch(struct nsp_recorder *recorder);

/* A process's part in a session. */
enum nsp_part {
    NSP_PART_NONE = 0,
    NSP_PART_POSSIBLE = 1, /* it has inherited the descriptor: a program that it executes may take part */
    NSP_PART_TAKEN = 2,    /* its probes write to this session, or did; a child of fork() keeps this, whatever it closes */
};

/* Returns an enum nsp_part, or -errno: -EACCES if the caller may not inspect the process, -ENOENT or -ESRCH if the process does not exist. */
int nsp_recorder_part_of(const struct nsp_recorder *recorder, int pid);

void nsp_recorder_status_read(struct nsp_recorder *recorder, struct nsp_recorder_status *status);

/* 0, or -errno once the file could not take more. */
int nsp_recorder_error(const struct nsp_recorder *recorder);

/*
 * Detaches, closes the rings, drains, writes the footer, frees.  counts may be NULL.
 * 0 or -errno; -ENODATA: no process took part, no file was made, an older one is as it was.
 */
int nsp_recorder_close(struct nsp_recorder *recorder, enum nslice_end end, struct nsp_session_counts *counts);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_RECORDER_H */
