/* SPDX-License-Identifier: MIT */
/* Recorder: a session drained by one process while others write, e.g. for `nsdump record`. */
#ifndef NSPROBE_RECORDER_H
#define NSPROBE_RECORDER_H

#include <stdint.h>

#include <nsprobe/file.h>
#include <nsprobe/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * For file scope in a program that links the library to record or read what others
 * write: the program neither opens nor joins a session, whatever the environment says.
 * The environment is meant for the programs that it starts.
 */
#define NSP_IGNORE_ENVIRONMENT const int nsp_detail_ignore_environment = 1
extern const int nsp_detail_ignore_environment;

struct nsp_recorder;

struct nsp_recorder_status {
    uint32_t joined;     /* processes that took part */
    uint32_t refused;    /* processes that tried to take part and could not */
    const char *refusal; /* reason of the last one; valid as long as the recorder */
    struct nsp_session_counts counts;
    uint64_t kernel_records; /* in the file so far */
};

/*
 * A recorder of the kernel other than the module nsmod: chunks as read() of /dev/nsmod returns them
 * after NSLICE_IOC_KERNEL, the totals last.  Valid until nsp_recorder_close().
 */
struct nsp_kernel_source {
    int fd;                /* to read, until its end; stays the caller's */
    void (*end)(void *of); /* ends the recording: the remaining chunks follow */
    int (*select)(void *of, const char *rules); /* new rules; returns 0 or -errno */
    void *of;
};

struct nslice_kernel_counter; /* nslice/control.h */

/*
 * Comma-separated names of counters -> what perf_event_open() requires for them, at `counters`,
 * which has room for NSLICE_MAX_COUNTERS.  Returns their number, 0 for NULL or
 * "", or -errno with the reason in nsp_last_error(): -EINVAL: an unknown name, or too many;
 * -ENOTSUP: not for the kernel of this machine.  Whether the machine has them shows when they are
 * opened.
 */
int nsp_kernel_counters(const char *names, struct nslice_kernel_counter *counters);

/* Kernel records, written by the module nsmod with the same clock.  Zero selects the default. */
struct nsp_kernel_config {
    size_t struct_size;   /* sizeof(struct nsp_kernel_config): identifies the version */
    const char *groups;   /* comma-separated, e.g. "net_rx,irq"; `nsdump kernel --list` shows all */
    const char *counters; /* comma-separated names, of each CPU; NULL or "": clock only */
    uint64_t ring_bytes;  /* data bytes of one CPU's ring; 0: 1 MiB */
    uint32_t pid;         /* for places that run in a process: only this process; 0: all */
    uint32_t port;        /* for places that see packets: only this port; 0: all */
    uint32_t protocol;    /* IPPROTO_*, with port; 0: all */
    const char *slices;   /* as nsp_session_config.slices, for names of the kernel */
    const struct nsp_kernel_source *source; /* already records; NULL: nsmod, as requested above */
    const char
        *reason; /* why nsmod records, for the trace (kernel.recorder.reason); NULL: not said */
};

/*
 * Creates the session's memory and opens the trace file, which stays unchanged until
 * the first process participates.  *out belongs to the caller until nsp_recorder_close().
 * One thread at a time.  Returns 0 or -errno with the reason in nsp_last_error():
 *
 *	-EINVAL   invalid configuration: an unknown counter, an invalid ring size ...
 *	-ENOTSUP  counters or ring kind unavailable on this machine
 *	-ENOMEM   rings larger than the available memory
 *	other     the trace file: -EEXIST it is not a trace, -EBUSY another session is
 *	          writing it, -ENXIO it is a pipe without a reader ...
 */
int nsp_recorder_open(const struct nsp_session_config *config, struct nsp_recorder **out);

/*
 * For a program to be started: call in the child between fork() and exec().  Sets the environment
 * variable that the library looks for and keeps the descriptor open across exec().
 */
int nsp_recorder_prepare_exec(struct nsp_recorder *recorder);

/*
 * Attaches to a running process that accepts it (NET_SLICE_CONF("attach=yes") or
 * NETSLICE=attach=yes).  Returns 0 or -errno.
 */
int nsp_recorder_attach(struct nsp_recorder *recorder, int pid);

/*
 * New rules for which slices and marks a process records from now on (nsp_session_config.slices;
 * "": all).  The process must be in a session with nsp_session_config.control, or be one that
 * accepts recorders.  Returns 0 or -errno with the reason in nsp_last_error();
 * -EINVAL: invalid rules.  After 0, nsp_last_error() has a line for each pattern that matches no
 * slice or mark that the process has by now, with those that there are; else it is empty.
 */
int nsp_control_slices(int pid, const char *rules);

/*
 * Call before the first pass.  The file then begins immediately, whether or not a process
 * participates.  If the recorded programs accept nsp_control_slices(), new rules of any of them
 * also apply to the kernel.  Returns 0 or -errno with the reason in nsp_last_error().  -ENODEV: no
 * module; -EPERM: no CAP_PERFMON; -EINVAL: unknown group or counter, invalid rules; -ENOTTY: the
 * module is too old for rules; -ENOTSUP or -EOPNOTSUPP: counters that this machine lacks; -EBUSY:
 * another recorder records the kernel.
 */
int nsp_recorder_add_kernel(struct nsp_recorder *recorder, const struct nsp_kernel_config *config);

/*
 * Ends the kernel's recording and drains the rest; call before nsp_recorder_close().  counts: those
 * of the kernel records.
 */
int nsp_recorder_end_kernel(struct nsp_recorder *recorder, struct nsp_session_counts *counts);

/*
 * For nsp_session_add_kernel(): a recorder of the kernel in this process.  It may have one thread,
 * which does not keep the process alive after its main thread has ended by pthread_exit().
 */
struct nsp_session_kernel {
    size_t struct_size; /* sizeof(struct nsp_session_kernel): identifies the version */
    /*
     * Begins to record, by the session's rules and its share of thinning (nsp_session_config), and
     * describes the source.  Returns 0, or -errno with the reason in `words`.
     */
    int (*begin)(void *given, const char *slices, uint32_t thin_permille,
                 struct nsp_kernel_source *source, char *words, size_t room);
    void *given;
    void (*release)(void *of); /* the source is not used any more */
};

/*
 * As nsp_recorder_add_kernel(), for the session that this process has opened, at any time and once
 * in a session: its drain reads the source.  begin() is called before this returns.  The source
 * ends and is released with the session, whichever way that ends, or before by
 * nsp_session_end_kernel().  Both callbacks are called with the session locked: they must not call
 * functions of sessions.  A child of fork() has nothing of it.
 * Returns 0 or -errno with the reason in nsp_last_error(); -ENOENT: no session is open; -EBUSY:
 * nsdump records the process, or the session had kernel records before; -ENOTSUP: a flight
 * recorder, or a session that is read through nsmod; others: of begin().
 */
int nsp_session_add_kernel(const struct nsp_session_kernel *kernel);

/*
 * Ends the kernel's recording, drains the rest and releases the source; the session continues.
 * counts: of the kernel records, or NULL.  Returns 0 or -errno; -ENOENT: no kernel is recorded.
 */
int nsp_session_end_kernel(struct nsp_session_counts *counts);

/*
 * Writes what is committed; returns the bytes taken from the fullest ring: sleep if the number is
 * small.
 */
uint64_t nsp_recorder_pass(struct nsp_recorder *recorder);

/*
 * Policy overwrite: updates the positions of the rings without draining them.  Call about once a
 * second: positions are ambiguous if more than 2^32 words are written between two calls.
 */
void nsp_recorder_watch(struct nsp_recorder *recorder);

/*
 * Pausing: from here on, records of all processes that take part are left out and counted, which is
 * no loss; nsp_recorder_resume() ends that.  A recorder may be paused before the first process
 * participates.  Slices that lack a record because of a pause are unmatched, and those that were
 * open while records were left out are excluded like those that span a loss.  The trace has the
 * pauses: session.switch.N in FORMAT.md.  Kernel records do not pause.
 * A call that changes nothing has no effect.  Return 0 or -errno; -ENOTSUP: policy overwrite.
 */
int nsp_recorder_pause(struct nsp_recorder *recorder);
int nsp_recorder_resume(struct nsp_recorder *recorder);
/* Records that pauses have left out until now, or until nsp_recorder_stop(). */
uint64_t nsp_recorder_left_out(const struct nsp_recorder *recorder);

/* How a process participates in a session. */
enum nsp_part {
    NSP_PART_NONE = 0,
    NSP_PART_POSSIBLE = 1, /* inherited the descriptor: a program that it executes may take part */
    NSP_PART_TAKEN = 2,    /* its probes write or wrote to it; a child of fork() keeps this */
};

/* Returns an enum nsp_part, or -errno: -EACCES if the caller may not inspect the process, -ENOENT
 * or -ESRCH if the process does not exist. */
int nsp_recorder_part_of(const struct nsp_recorder *recorder, int pid);

void nsp_recorder_status_read(struct nsp_recorder *recorder, struct nsp_recorder_status *status);

/* Returns 0, or -errno once a write to the file has failed. */
int nsp_recorder_error(const struct nsp_recorder *recorder);

/*
 * Detaches and closes the rings: nothing that programs write from here on is recorded.  Called by
 * nsp_recorder_close() otherwise.
 */
void nsp_recorder_stop(struct nsp_recorder *recorder);

/*
 * Stops, drains, writes the footer and frees the recorder.  counts may be NULL.  Returns 0 or
 * -errno; -ENODATA: no process took part, no file was created, and an older file is unchanged.
 */
int nsp_recorder_close(struct nsp_recorder *recorder, enum nslice_end end,
                       struct nsp_session_counts *counts);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_RECORDER_H */
