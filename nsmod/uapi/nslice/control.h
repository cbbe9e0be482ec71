/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* /dev/nsmod: requests and answers of its ioctls; the C form of nsmod/ABI.md. */
#ifndef NSLICE_CONTROL_H
#define NSLICE_CONTROL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include <nslice/file.h>

/*
 * NSLICE_CONTROL_VERSION covers this file.  Within a version ioctls and flags
 * may be added and requests may grow at their end: each begins with its size
 * as known to the caller, and fields unknown to the module must be zero.
 * Sizes, offsets and meanings of existing fields never change.
 */
#define NSLICE_CONTROL_VERSION 1
#define NSLICE_DEVICE "/dev/nsmod"
#define NSLICE_DEVICE_GROUP "netslice"

/*
 * An open file of the device has one role, set by the first of these calls:
 *
 *	NSLICE_IOC_SESSION  a session's memory: mmap() it, pass it on
 *	NSLICE_IOC_KERNEL   the kernel's recorder: read() returns chunks for another writer's trace
 *	NSLICE_IOC_READER   a reader: read() returns a whole trace
 *	read(), poll()      same as NSLICE_IOC_READER with session 0
 *
 * Requests of another role, or for a second role, get -EBADFD.
 */

#define NSLICE_RELEASE_TEXT 32

struct nslice_version_request {
	__u32 size;
	__u32 flags;    /* 0 */
	__u32 control;  /* out: NSLICE_CONTROL_VERSION */
	__u32 abi;      /* out: NSLICE_ABI_VERSION */
	__u32 session;  /* out: NSLICE_SESSION_VERSION */
	__u32 file;     /* out: NSLICE_FILE_VERSION */
	char release[NSLICE_RELEASE_TEXT]; /* out: the module's release, e.g. "0.1.0" */
};
NSLICE_ASSERT_SIZE(struct nslice_version_request, 56);

#define NSLICE_SESSION_DRAINED 1u /* drained by the module for a reader, not by a process */

struct nslice_session_request {
	__u32 size;
	__u32 flags;        /* NSLICE_SESSION_* */
	__u64 ring_bytes;   /* per CPU, a power of two, at least NSLICE_MIN_RING_BYTES */
	__u32 cpus;         /* out: number of rings */
	__u32 id;           /* out: never 0, never reused */
	__u64 memory_bytes; /* out: bytes that may be mapped */
};
NSLICE_ASSERT_SIZE(struct nslice_session_request, 32);

#define NSLICE_READER_SNAPSHOT 1u /* current contents, session continues; policy overwrite only */

struct nslice_reader_request {
	__u32 size;
	__u32 flags;      /* NSLICE_READER_* */
	__u32 session;    /* id; 0: the oldest that waits for a reader; waits if there is none */
	__u32 reserved;   /* 0 */
};
NSLICE_ASSERT_SIZE(struct nslice_reader_request, 16);

/* One session that the caller may read. */
struct nslice_session_entry {
	__u32 id;
	__u32 pid;      /* of the process that created it */
	__u32 uid;
	__u32 flags;    /* NSLICE_SESSION_*, NSLICE_ENTRY_* */
	__u64 ring_bytes;
	__u64 records;  /* in the rings now */
	char command[16];
};
NSLICE_ASSERT_SIZE(struct nslice_session_entry, 48);

#define NSLICE_ENTRY_OVER 0x100u      /* no process uses it any more: it waits for a reader */
#define NSLICE_ENTRY_READ 0x200u      /* it has a reader */
#define NSLICE_ENTRY_OVERWRITE 0x400u /* flight recorder */

struct nslice_list_request {
	__u32 size;
	__u32 flags;   /* 0 */
	__u32 room;    /* number of elements at `entries` */
	__u32 count;   /* out: number of sessions, may be more than room */
	__u64 entries; /* struct nslice_session_entry * */
};
NSLICE_ASSERT_SIZE(struct nslice_list_request, 24);

#define NSLICE_KERNEL_WHOLE 1u   /* a complete trace, with header and footer */
#define NSLICE_KERNEL_ORDERED 2u /* clock reads are fenced, as in clock mode "ordered" */

/*
 * A counter of the kernel's START and STOP records, on each CPU: the fields of
 * perf_event_attr that select the event.
 */
struct nslice_kernel_counter {
	__u32 type;
	__u32 reserved; /* 0 */
	__u64 config;
	__u64 config1;
	char name[40];  /* for the trace's kernel.counters.names; terminated */
};
NSLICE_ASSERT_SIZE(struct nslice_kernel_counter, 64);

struct nslice_kernel_request {
	__u32 size;
	__u32 flags;          /* NSLICE_KERNEL_* */
	__u32 full;           /* enum nslice_ring_full */
	__u32 counters_count; /* at `counters`, at most NSLICE_MAX_COUNTERS */
	__u64 ring_bytes;     /* per CPU; 0: 1 MiB */
	__u64 counters;       /* struct nslice_kernel_counter *, in the order of a record's words */
	__u64 groups;         /* groups_bytes bytes: comma-separated names, e.g. "net_rx,irq" */
	__u32 groups_bytes;
	__u32 port;           /* where packets are seen, only those from or to this port; 0: all */
	__u32 pid;            /* only records made while this process (thread group) runs; 0: all */
	__u32 protocol;       /* IPPROTO_TCP, ... with port; 0: all */
	__u64 slices;         /* slices_bytes bytes: rules (nslice/rules.h) for the slices and marks to record */
	__u32 slices_bytes;   /* 0: all */
	__u32 reserved;       /* 0 */
};
NSLICE_ASSERT_SIZE(struct nslice_kernel_request, 72);

/* New rules for the kernel's recorder, from now on. */
struct nslice_slices_request {
	__u32 size;
	__u32 flags;        /* 0 */
	__u64 slices;       /* as in nslice_kernel_request */
	__u32 slices_bytes;
	__u32 reserved;     /* 0 */
};
NSLICE_ASSERT_SIZE(struct nslice_slices_request, 24);

/* Text from the module: lines of tab-separated fields (ABI.md). */
struct nslice_text_request {
	__u32 size;
	__u32 flags;  /* 0 */
	__u64 text;   /* char * */
	__u32 room;   /* bytes at `text` */
	__u32 bytes;  /* out: length of the text, may be more than room; no terminator */
};
NSLICE_ASSERT_SIZE(struct nslice_text_request, 24);

#define NSLICE_MEASURE_MAX_BATCHES 2000

/* Cost of machine instructions and of the kernel's probes on a CPU, as text like above. */
struct nslice_measure_request {
	__u32 size;
	__u32 flags;   /* 0 */
	__u64 text;    /* char * */
	__u32 room;
	__u32 bytes;   /* out: as in nslice_text_request */
	__u32 cpu;     /* to measure on */
	__u32 batches; /* per figure, at least 10; 0: 200 */
};
NSLICE_ASSERT_SIZE(struct nslice_measure_request, 32);

#define NSLICE_IOC_MAGIC 0xbd
#define NSLICE_IOC_VERSION _IOWR(NSLICE_IOC_MAGIC, 0, struct nslice_version_request)
#define NSLICE_IOC_SESSION _IOWR(NSLICE_IOC_MAGIC, 1, struct nslice_session_request)
/* ends a session, kernel or reader normally; remaining data can be read */
#define NSLICE_IOC_END _IO(NSLICE_IOC_MAGIC, 2)
#define NSLICE_IOC_READER _IOWR(NSLICE_IOC_MAGIC, 3, struct nslice_reader_request)
#define NSLICE_IOC_LIST _IOWR(NSLICE_IOC_MAGIC, 4, struct nslice_list_request)
#define NSLICE_IOC_KERNEL _IOWR(NSLICE_IOC_MAGIC, 5, struct nslice_kernel_request)
#define NSLICE_IOC_GROUPS _IOWR(NSLICE_IOC_MAGIC, 6, struct nslice_text_request)
#define NSLICE_IOC_MEASURE _IOWR(NSLICE_IOC_MAGIC, 7, struct nslice_measure_request)
#define NSLICE_IOC_SLICES _IOW(NSLICE_IOC_MAGIC, 8, struct nslice_slices_request)

#endif /* NSLICE_CONTROL_H */
