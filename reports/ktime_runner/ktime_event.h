/* SPDX-License-Identifier: MIT */
/* What the programs of ktime.bpf.c leave in their maps, for the runner.  Times are CLOCK_MONOTONIC,
 * in ns, as bpf_ktime_get_ns() returns them. */
#ifndef KTIME_EVENT_H
#define KTIME_EVENT_H

#ifndef __BPF__
#include <linux/types.h>
#endif

/* The members of the structure in the description of the experiment. */
struct ktime_event {
    __u64 timestamp;
    __u32 bytes;
    __u32 processing_time_ns;
};

/* Reads of the clock in a loop, as seen by the program `pause`. */
struct ktime_pauses {
    __u64 previous_ns;
    __u64 watched_ns;
    __u64 lost_ns; /* in pauses of more than KTIME_PAUSE_NS between two reads */
    __u64 pauses;
    __u64 longest_ns;
};

/* An interrupt takes longer; two reads of the clock take less. */
#define KTIME_PAUSE_NS 250
#define KTIME_PAUSE_READS 50000

/* The part of a packet that is summed: the 64 bytes of ICMP of an ordinary ping. */
#define KTIME_SUMMED_BYTES 64

#endif
