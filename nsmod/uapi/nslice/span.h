/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Ring data from a tail on -> a span of complete records.  For user-space and kernel drains. */
#ifndef NSLICE_SPAN_H
#define NSLICE_SPAN_H

#include <linux/types.h>

#include <nslice/record.h>

#ifdef __KERNEL__
#define NSLICE_LOAD_ACQUIRE(place) smp_load_acquire(place)
#else
#define NSLICE_LOAD_ACQUIRE(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#endif

struct nslice_span {
	__u32 words;
	__u32 records;
};

/*
 * Returns the complete records of `data` within available_words that fit into
 * max_words, both in words.  In an atomic ring the walk ends at the first
 * incomplete record.  Lengths are masked, so that a hostile writer cannot make
 * the walk go beyond available_words.
 */
static inline struct nslice_span nslice_span_walk(const __u64 *data, __u32 available_words, __u32 max_words,
							int stop_at_unfinished)
{
	struct nslice_span span = { 0, 0 };

	while (span.words + NSLICE_HEAD_WORDS <= available_words) {
		/* pairs with the release of the writer that publishes its record by the kind */
		const __u64 word = NSLICE_LOAD_ACQUIRE(&data[span.words + 1]);
		const __u32 words = NSLICE_RECORD_WORDS(word);

		if (stop_at_unfinished && NSLICE_RECORD_KIND(word) == 0)
			break;
		if (span.words + words > available_words || span.words + words > max_words)
			break;
		span.words += words;
		++span.records;
	}
	return span;
}

#endif /* NSLICE_SPAN_H */
