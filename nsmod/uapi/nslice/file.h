/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Trace file, version 1: on-disk structures; the C form of libnsprobe/FORMAT.md. */
#ifndef NSLICE_FILE_H
#define NSLICE_FILE_H

#include <linux/types.h>

#include <nslice/record.h>
#include <nslice/ring.h>

/*
 * A change that older readers would misread gets the next number, a separate
 * decoder file and a golden trace; readers support all earlier versions.  New
 * chunk kinds and INFO keys do not need a new number: readers skip them.
 */
#define NSLICE_FILE_VERSION 1
#define NSLICE_FILE_MAGIC "NSLTRACE"
#define NSLICE_FILE_BYTE_ORDER 0x01020304u
#define NSLICE_CHUNK_MAGIC 0x4b4c534eu /* "NSLK" */
#define NSLICE_MAX_PAYLOAD_BYTES (1u << 18)

struct nslice_file_header {
	char magic[8];        /* NSLICE_FILE_MAGIC, no terminator */
	__u32 version;        /* NSLICE_FILE_VERSION */
	__u32 header_bytes;   /* 64; the first chunk starts here */
	__u32 byte_order;     /* NSLICE_FILE_BYTE_ORDER as the writer stores it */
	__u32 flags;          /* 0 */
	__u64 created_unix_ns;
	__u8 session_uuid[16];
	__u64 reserved;
	__u32 reserved1;
	__u32 header_crc32c;  /* over the 60 bytes before it */
};
NSLICE_ASSERT_SIZE(struct nslice_file_header, 64);

enum nslice_chunk_kind {
	NSLICE_CHUNK_INFO = 1,        /* text: key=value lines */
	NSLICE_CHUNK_SITES = 2,       /* struct nslice_file_site each with its two strings */
	NSLICE_CHUNK_CALIBRATION = 3, /* struct nslice_file_calibration + entries */
	NSLICE_CHUNK_RECORDS = 4,     /* complete records of one CPU, in commit order */
	NSLICE_CHUNK_FOOTER = 5,      /* struct nslice_file_footer + one row for each CPU */
	/* written by nsmod: */
	NSLICE_CHUNK_KERNEL_RECORDS = 6,     /* as RECORDS, from the kernel's ring of that CPU */
	NSLICE_CHUNK_KERNEL_TOTALS = 7,      /* struct nslice_file_kernel_totals + one row for each CPU */
	NSLICE_CHUNK_KERNEL_CALIBRATION = 8, /* struct nslice_file_kernel_calibration + entries */
	NSLICE_CHUNK_KERNEL_SITES = 9,       /* as SITES, for KERNEL_RECORDS */
	NSLICE_CHUNK_EPOCHS = 10,            /* struct nslice_file_epoch each with its slice ids; by processes and the recorder by BPF */
	NSLICE_CHUNK_KINDS = 11,
};

/*
 * Slice ids from here on belong to the kernel, lower ones to processes: each
 * has its own site chunks.
 */
#define NSLICE_KERNEL_FIRST_ID 0xf000

struct nslice_chunk_header {
	__u32 magic;          /* NSLICE_CHUNK_MAGIC */
	__u16 kind;           /* enum nslice_chunk_kind */
	__u16 header_bytes;   /* 64 */
	__u32 payload_bytes;  /* multiple of 8, at most NSLICE_MAX_PAYLOAD_BYTES */
	__u32 payload_crc32c;
	__u64 sequence;       /* 0, 1, 2 ..., counted per CPU for (KERNEL_)RECORDS, else per kind */
	__u32 cpu;            /* (KERNEL_)RECORDS only, else 0 */
	__u32 records;        /* (KERNEL_)RECORDS only: number of records in the payload */
	__u64 lost_before;    /* (KERNEL_)RECORDS only: records of this ring lost before the first one here, all causes */
	__u64 first_ticks;    /* (KERNEL_)RECORDS only: ticks of the first record */
	__u64 left_out_before; /* RECORDS only: records of all rings left out before, as the recorder had paused */
	__u32 reserved1;
	__u32 header_crc32c;  /* over the 60 bytes before it */
};
NSLICE_ASSERT_SIZE(struct nslice_chunk_header, 64);

/*
 * INTERRUPT: slices of such a site interrupt the code that ran on the CPU;
 * their time inside a program's slice is not the program's.
 * SWITCH: a MARK in the thread that leaves the CPU; its value is the id of the
 * next thread.
 * IN_PROGRAM: the record follows other records or code in its BPF program, so
 * the call of a program is not part of its cost.
 */
#define NSLICE_SITE_INTERRUPT 1u
#define NSLICE_SITE_SWITCH 2u
#define NSLICE_SITE_IN_PROGRAM 4u

/*
 * By which way a slice is recorded, if not by macros: in the flags of its sites
 * and in the kind of calibration entries for such slices.  Kernel sites: START
 * and STOP of a program's function, recorded by uprobes.  They belong to the
 * program's slices of that thread, and their names have no prefix.
 */
#define NSLICE_WAY_SHIFT 5
#define NSLICE_WAY_MASK 0x60u
#define NSLICE_WAY_UPROBE_EMULATED 1u  /* kernel: the kernel emulates the function's first instruction */
#define NSLICE_WAY_UPROBE_STEPPED 2u   /* kernel: it executes it in a copy, with a second trap */
#define NSLICE_WAY_UPROBE_OPTIMISED 3u /* kernel: it replaces it by a call */
#define NSLICE_WAY_SLED 1u             /* program: XRay sleds at the function's entry and exits */
#define NSLICE_WAY_ENTRY 2u            /* program: its patchable entry, and its return address */

/* Most functions by uprobes in a trace: they have the highest ids, two each. */
#define NSLICE_MOST_UPROBE_FUNCTIONS 1000

/*
 * One place in a program's source; two terminated strings follow, padded
 * together to a multiple of 8 bytes.
 */
struct nslice_file_site {
	__u16 slice_id;
	__u8 kind;        /* enum nslice_kind */
	__u8 flags;       /* NSLICE_SITE_*, kernel sites only */
	__u32 line;
	__u16 name_bytes; /* with terminator */
	__u16 file_bytes; /* with terminator */
	__u32 pid;        /* process that first announced the site */
};
NSLICE_ASSERT_SIZE(struct nslice_file_site, 16);

#define NSLICE_EPOCH_OF_KERNEL 0u /* in the place of a process */

/*
 * A span of time in which the same probes of a process, or of the BPF programs
 * that are recorded, were on.  Probes were being switched before `begin_ticks`
 * and after `end_ticks`.  The ids of the slices and marks that were off follow,
 * ascending, as `ids` 16-bit numbers padded together to a multiple of 8 bytes;
 * only probes that the session's rules select are listed.
 */
struct nslice_file_epoch {
	__u64 begin_ticks;
	__u64 end_ticks;
	__u32 pid; /* or NSLICE_EPOCH_OF_KERNEL */
	__u32 ids;
};
NSLICE_ASSERT_SIZE(struct nslice_file_epoch, 24);

enum nslice_calibration_phase { NSLICE_CALIBRATION_START = 1, NSLICE_CALIBRATION_END = 2 };

#define NSLICE_ANY_CPU 0xffffffffu

/*
 * Flag in an entry's kind: cost of the probe alone, without adjacent work to
 * overlap with.  The entry without the flag is for probes between other work;
 * the difference between the two bounds the error of the constant.
 */
#define NSLICE_ENTRY_ALONE 0x80
/*
 * Flag in the kind of a program's pair: right behind another probe, around more work
 * than its STOP can overtake.  The difference from the entry without the flag bounds
 * what reads that overtake unequal amounts of work add to a slice, or take from it.
 * In KERNEL_CALIBRATION, this bit is NSLICE_ENTRY_IN_PROGRAM.
 */
#define NSLICE_ENTRY_OVERTAKING 0x10

/* One constant of the correction: cost of a probe of `kind` in `field` on `cpu`. */
struct nslice_calibration_entry {
	__u32 cpu;       /* or NSLICE_ANY_CPU */
	__u8 kind;       /* START: the pair START + STOP; MARK, INIT, EXIT: the probe; | NSLICE_ENTRY_ALONE or _OVERTAKING */
	__u8 field;      /* 0: clock ticks; n: counter n - 1 of the session */
	__u16 degrees;   /* degrees of freedom of the two intervals; 0: unknown, many */
	__u32 samples;   /* batches in the means */
	__u32 trimmed;   /* batches left out as outliers */
	double inner;       /* probe cost included in a slice (START only, else 0) */
	double inner_ci95;  /* half width of the 95 % interval */
	double outer;       /* cost that the probe, or the pair, adds to the enclosing slice */
	double outer_ci95;
};
NSLICE_ASSERT_SIZE(struct nslice_calibration_entry, 48);

struct nslice_file_calibration {
	__u32 phase;   /* enum nslice_calibration_phase */
	__u32 entries;
	__u64 ticks;   /* read together with mono_ns */
	__u64 mono_ns; /* CLOCK_MONOTONIC_RAW */
	double clock_step_ticks; /* granularity of the clock; 1 if every tick is visible */
	double clock_read_ticks; /* mean cost of the bare clock read of the session's mode */
	__u32 pid;
	__u32 reserved;
	__u64 reserved1;
};
NSLICE_ASSERT_SIZE(struct nslice_file_calibration, 56);

struct nslice_file_footer_cpu {
	__u32 cpu;
	__u32 reserved;
	__u64 chunks;
	__u64 issued;  /* records that probes tried to write */
	__u64 drained; /* records in the chunks of this file */
	__u64 lost[8]; /* by enum nslice_lost; issued = drained + sum of lost */
};
NSLICE_ASSERT_SIZE(struct nslice_file_footer_cpu, 96);

enum nslice_end {
	NSLICE_END_CLOSED = 1,      /* the program closed its session or exited */
	NSLICE_END_INTERRUPTED = 2, /* the recorder was stopped */
	NSLICE_END_KILLED = 3,      /* the program was killed by a signal */
	NSLICE_END_WRITE_ERROR = 4, /* writing the file failed; the rest is counted as lost */
};

struct nslice_file_footer {
	__u32 cpus;  /* rows that follow */
	__u32 end;   /* enum nslice_end */
	__u64 ticks; /* with mono_ns and those of the START calibration: the clock's rate */
	__u64 mono_ns;
	__u64 end_calibration_offset; /* of that chunk in the file, 0: none */
	__u64 dropped_sites; /* sites beyond the table's 65,535 */
	/*
	 * Chunks of each kind in this file; info_chunks 0: unknown, written
	 * before these fields existed.
	 */
	__u32 info_chunks;
	__u32 site_chunks;
	__u32 calibration_chunks;
	__u32 kernel_totals_chunks;
	__u32 kernel_calibration_chunks;
	__u32 kernel_site_chunks;
};
NSLICE_ASSERT_SIZE(struct nslice_file_footer, 64);

/* The kernel's side of the loss equation: the last of its chunks. */
struct nslice_file_kernel_totals {
	__u32 cpus; /* rows of struct nslice_file_footer_cpu that follow */
	__u32 reserved;
	__u64 unnamed_sites; /* sites without an id, because none was left */
};
NSLICE_ASSERT_SIZE(struct nslice_file_kernel_totals, 16);

/*
 * Flag in a kernel entry's kind: cost inside a BPF program, of the sites with
 * NSLICE_SITE_IN_PROGRAM.  The entry without the flag includes the call of a
 * program for each record: half the difference of START's outer costs is what
 * a call costs.
 */
#define NSLICE_ENTRY_IN_PROGRAM 0x10

/*
 * Cost of a kernel probe.  The kernel has no floating point, so these are sums
 * over batches, from which the reader computes means and intervals, in
 * multiples of 2^-10 ticks or counts per probe.  A fifth of the batches at
 * either end is left out of the sums; the squares are winsorised, so that
 * squares / (batches * (batches - 1)) is the squared standard error.
 */
struct nslice_kernel_calibration_entry {
	__u32 cpu;
	__u8 kind;     /* START: the pair START + STOP; MARK, INIT, EXIT: the probe; | NSLICE_ENTRY_IN_PROGRAM */
	__u8 field;    /* 0: clock ticks; n: counter n - 1 */
	__u16 batches; /* number in the sums */
	__s64 inner_sum;     /* probe cost included in a slice (START only, else 0) */
	__s64 inner_squares; /* of the deviations from the mean, in 2^-20 */
	__s64 outer_sum;     /* cost that the probe, or the pair, adds to the enclosing slice */
	__s64 outer_squares;
};
NSLICE_ASSERT_SIZE(struct nslice_kernel_calibration_entry, 40);

struct nslice_file_kernel_calibration {
	__u32 entries;
	__u32 phase;   /* enum nslice_calibration_phase */
	__u64 ticks;   /* read together with mono_ns */
	__u64 mono_ns; /* CLOCK_MONOTONIC_RAW */
};
NSLICE_ASSERT_SIZE(struct nslice_file_kernel_calibration, 24);

#endif /* NSLICE_FILE_H */
