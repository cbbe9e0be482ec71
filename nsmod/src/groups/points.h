/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the probes of all groups. */
#ifndef NSMOD_POINTS_H
#define NSMOD_POINTS_H

#include <linux/percpu.h>

#include <nslice/file.h>
#include <nslice/points.h>
#include <nslice/record.h>

#include "groups/groups.h"
#include "groups/kernel_filter.h"
#include "kernel/kernel_write.h"

/* Additional words of each kind. */
enum {
	NSMOD_WORDS_START = 0, NSMOD_WORDS_STOP = 0, NSMOD_WORDS_MARK = NSLICE_MARK_WORDS, NSMOD_WORDS_INIT = NSLICE_INIT_WORDS,
	NSMOD_WORDS_EXIT = 0,
};

/* A row of <nslice/points.h> -> its place in the group's enum; its point. */
#define NSMOD_POINT_ID(id_, ...) id_,
#define NSMOD_POINT(id_, kind_, tracepoint_, probe_, slice_, flags_, says_)                          \
	[id_] = {                                                                                    \
		.tracepoint = #tracepoint_, .probe = probe_, .slice = slice_, .says = says_,         \
		.kind = NSLICE_KIND_##kind_, .words = NSMOD_WORDS_##kind_, .flags = flags_,          \
	},
#define NSMOD_GROUP(name_, ...) \
	const struct nsmod_group nsmod_group_##name_ = { .points = points, .count = ARRAY_SIZE(points), ##__VA_ARGS__ }

static __always_inline struct nslice_kernel_site *nsmod_site_of(const void *point)
{
	return &((struct nsmod_point *)point)->site;
}

static __always_inline void nsmod_point_slice(const void *point)
{
	if (nsmod_passes_thread(current))
		nsmod_write(nsmod_site_of(point), NULL, 0);
}

/* For a point that does its own filtering. */
static __always_inline void nsmod_point_mark_of_any(const void *point, u64 value)
{
	nsmod_write(nsmod_site_of(point), &value, 1);
}

static __always_inline void nsmod_point_mark(const void *point, u64 value)
{
	if (nsmod_passes_thread(current))
		nsmod_point_mark_of_any(point, value);
}

/* One packet. */
static __always_inline void nsmod_point_init(const void *point, u64 number, u64 bytes)
{
	const u64 words[] = { number, 1, bytes };

	if (nsmod_passes_thread(current))
		nsmod_write(nsmod_site_of(point), words, ARRAY_SIZE(words));
}

/*
 * The exit tracepoint does not have the packet of its entry.  Whether an entry
 * passed the filter is kept in a bit until its exit; beyond a depth of 64 no
 * entry passes.  Entries and exits of one tracepoint nest on a CPU.
 */
struct nsmod_passed {
	u64 bits;
	u32 depth;
	u32 recording; /* to discard the bits of another recording */
};

static __always_inline struct nsmod_passed *nsmod_passed_here(struct nsmod_passed __percpu *of)
{
	struct nsmod_passed *passed = raw_cpu_ptr(of);

	if (unlikely(passed->recording != nsmod_groups_recording))
		*passed = (struct nsmod_passed){ .recording = nsmod_groups_recording };
	return passed;
}

static __always_inline bool nsmod_entry_passes(struct nsmod_passed __percpu *of, bool passes)
{
	struct nsmod_passed *passed = nsmod_passed_here(of);

	passed->bits = passed->bits << 1 | (passes && passed->depth < 64);
	++passed->depth;
	return passed->bits & 1;
}

static __always_inline bool nsmod_exit_passes(struct nsmod_passed __percpu *of)
{
	struct nsmod_passed *passed = nsmod_passed_here(of);
	const bool passes = passed->bits & 1;

	if (passed->depth == 0) /* the entry was before the probes were attached */
		return false;
	passed->bits >>= 1;
	--passed->depth;
	return passes;
}

#endif /* NSMOD_POINTS_H */
