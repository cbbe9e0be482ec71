/* SPDX-License-Identifier: MIT */
/*
 * For the loader of BPF programs with probes (<nslice/bpf.h>): their records in the loader's own
 * session, in one file and on one clock with the probes of <nsprobe/probe.h>.  Link nsprobe-bpf.
 */
#ifndef NSPROBE_BPF_SESSION_H
#define NSPROBE_BPF_SESSION_H

#ifdef NETSLICE_DISABLE

#define NET_SLICE_BPF_RECORD() ((void)0)

#else

#include <errno.h>
#include <stdio.h>

#include <nsprobe/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Records the BPF programs with probes that this process has open: those that it has loaded when
 * this returns, others within 50 ms (nsp_bpf_wait() of <nsprobe/bpf.h> waits for that).  The
 * session (NETSLICE=output=FILE in the environment, or nsp_session_open()) is open before; its
 * `slices` and `thin` apply to the programs as well.  Once in a session.  Takes about 0.2 s.
 *
 * Ends by nsp_bpf_record_end(), or with the session, also by exit().  A kill, exec() and _exit()
 * end it without a footer, as they do a session; nothing stays attached, but a program that stays
 * loaded (pinned) has its probes on until a recorder takes it over, after the process's end.
 *
 * tell(): gets warnings, such as that another recorder has a program, one line each without an end
 * of line, also from other threads; NULL: they are printed on standard error.  A program of another
 * recorder is recorded as soon as that one ends.
 *
 * Any thread, not from a signal handler; while this runs, no other thread should call fork().
 * A child of fork() records nothing of it.  Descriptors that the process did not open must stay
 * open (closefrom() comes before).  Returns 0 or -errno with the reason in nsp_last_error():
 *
 *	-ENOENT  no session is open
 *	-EBUSY   nsdump records the process (`-k programs` has its BPF programs), or the session had
 *	         such records before
 *	-EPERM   requires CAP_BPF and CAP_PERFMON
 *	-ENOTSUP no BTF; or a session that is a flight recorder, or is read through nsmod
 */
int nsp_bpf_record(void (*tell)(const char *warning));

/*
 * Ends the recording; the session continues.  counts: of the programs' records; may be NULL.
 * Returns 0 or -errno; -ENOENT: nothing is being recorded.
 */
int nsp_bpf_record_end(struct nsp_session_counts *counts);

/* Of NET_SLICE_BPF_RECORD: without a session of its own, the process has nothing to record. */
static inline void nsp_detail_bpf_record(void)
{
    const int err = nsp_bpf_record(NULL);

    if (err && err != -ENOENT && err != -EBUSY)
        fprintf(stderr, "netslice: %s\n", nsp_last_error());
}

/*
 * nsp_bpf_record() if the process has a session of its own, otherwise nothing.  Failures are
 * reported on standard error.
 */
#define NET_SLICE_BPF_RECORD() nsp_detail_bpf_record()

#ifdef __cplusplus
}
#endif

#endif /* NETSLICE_DISABLE */

#endif /* NSPROBE_BPF_SESSION_H */
