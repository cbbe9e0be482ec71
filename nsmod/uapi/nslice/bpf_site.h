/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Probes in BPF programs: the two maps by which a recorder finds and drains them. */
#ifndef NSLICE_BPF_SITE_H
#define NSLICE_BPF_SITE_H

#ifndef __VMLINUX_H__ /* has the same types */
#include <linux/types.h>
#endif

#include <nslice/record.h>

/*
 * A program with probes uses two arrays that can be mapped (BPF_F_MMAPABLE):
 *
 *	NSLICE_BPF_RINGS  An element for each possible CPU: struct nslice_ring_meta in
 *			  NSLICE_RING_META_BYTES, then the data.  Records are written by the rules of
 *			  the atomic kind, with CLOCK_MONOTONIC in ns as the time.
 *	the sites	  One element: an array of struct nslice_bpf_site.  Its name is
 *			  NSLICE_BPF_SITES, or ends in NSLICE_BPF_SITES_SECTION, which is what libbpf
 *			  makes of a section of that name, with or without the object's name before
 *			  it: the section is short enough for the kernel's 15 characters.
 *
 * One recorder at a time drains a program: see `owner` in struct nslice_ring_meta.
 */
#define NSLICE_BPF_GROUP "programs" /* of the kernel, for recorders */
#define NSLICE_BPF_RINGS "nslice_rings"
#define NSLICE_BPF_SITES "nslice_sites"
#define NSLICE_BPF_SITES_SECTION ".data.nslice"

#define NSLICE_BPF_NAME_BYTES 48
#define NSLICE_BPF_FILE_BYTES 64

/*
 * A place in the program's source.  An entry of kind 0 is not one: its bits are 1 while a recorder
 * records the program (NET_SLICE_IS_ON).
 */
struct nslice_bpf_site {
	__u64 bits; /* second word of its records without the thread; 0: off.  By the recorder. */
	__u32 line;
	__u8 kind;  /* enum nslice_kind */
	__u8 reserved[3];
	char name[NSLICE_BPF_NAME_BYTES]; /* without a terminator if there is no room for one */
	char file[NSLICE_BPF_FILE_BYTES]; /* the same */
};
NSLICE_ASSERT_SIZE(struct nslice_bpf_site, 128);

/* Owner of a program's rings: in the meta data of the first CPU; 0: none. */
#define NSLICE_BPF_OWNER(pid, start) ((__u64)(__u32)(start) << 32 | (__u32)(pid))
#define NSLICE_BPF_OWNER_PID(owner) ((__u32)(owner))

#endif /* NSLICE_BPF_SITE_H */
