/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Ring data from a tail on -> a stretch of complete records.  For user-space and kernel drains. */
#ifndef NSLICE_STRETCH_H
#define NSLICE_STRETCH_H

#include <linux/types.h>

#include <nslice/record.h>

#ifdef __KERNEL__
#define NSLICE_LOAD_ACQUIRE(place) smp_load_acquire(place)
#else
#define NSLICE_LOAD_ACQUIRE(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#endif

struct nslice_stretch {
	__u32 units;
	__u32 records;
};

/*
 * Returns the complete records of `data` within available_units that fit into
 * max_units, both in words.  In an atomic ring the walk ends at the first
 * incomplete record.  Lengths are masked, so that a hostile writer cannot make
 * the walk go beyond available_units.
 */
static inline struct nslice_stretch nslice_stretch_walk(const __u64 *data, __u32 available_units, __u32 max_units,
							int stop_at_unfinished)
{
	struct nslice_stretch stretch = { 0, 0 };

	while (stretch.units + NSLICE_HEAD_UNITS <= available_units) {
		/* pairs with the release of the writer that publishes its record by the kind */
		const __u64 word = NSLICE_LOAD_ACQUIRE(&data[stretch.units + 1]);
		const __u32 units = NSLICE_HEAD_UNITS + (__u32)(word >> 56 & 7);

		if (stop_at_unfinished && (word >> 48 & 0xff) == 0)
			break;
		if (stretch.units + units > available_units || stretch.units + units > max_units)
			break;
		stretch.units += units;
		++stretch.records;
	}
	return stretch;
}

#endif /* NSLICE_STRETCH_H */
