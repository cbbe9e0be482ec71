/* SPDX-License-Identifier: MIT */
/* C structures for the assembly: byte offsets, checked in thread_begin.c. */
#ifndef NSP_COUNTED_H
#define NSP_COUNTED_H

#define NSP_COUNTED_MAX 6

/* struct nsp_counted: that of a thread is at the state's thread_offset */
#define NSP_COUNTED_SLOT 0
#define NSP_COUNTED_SLOT_BYTES 16
#define NSP_COUNTED_READER 96
#define NSP_COUNTED_OFFSET 144
#define NSP_COUNTED_VALUE 192
#define NSP_COUNTED_PAGE 240
#define NSP_COUNTED_LOCK 288
#define NSP_COUNTED_SPARE_BITS 312
#define NSP_COUNTED_HEAD 336
#define NSP_COUNTED_THREAD_AND_COUNT 344
#define NSP_COUNTED_STEP 352
#define NSP_COUNTED_HAS_WRITTEN 360
#define NSP_COUNTED_STATE 368

/* struct nsp_counted, has_written: whether a handler's probe has written since it was reset */
#define NSP_NOT_WRITTEN 0
#define NSP_WRITTEN_SEEN 1 /* taken into account by the probe that it interrupted */
#define NSP_WRITTEN 2      /* or more */

/* relative to a ring's head */
#define NSP_HEAD_LIMIT (NSP_DETAIL_RING_LIMIT - NSP_DETAIL_RING_HEAD)
#define NSP_HEAD_MASK (NSP_DETAIL_RING_MASK - NSP_DETAIL_RING_HEAD)
#define NSP_HEAD_DATA (NSP_DETAIL_RING_DATA - NSP_DETAIL_RING_HEAD)

/* struct nsp_site */
#define NSP_SITE_KIND 22

/* struct perf_event_mmap_page */
#define NSP_PAGE_LOCK 8

#define NSP_LAST_COUNTED_KIND 2 /* STOP, after START: no other kind carries counters */

/* How far counted_*.S got before it left the record to nsp_detail_emit(). */
#define NSP_ATTEMPT_NONE 0  /* not there */
#define NSP_ATTEMPT_STALE 1 /* the thread's block is out of date */
#define NSP_ATTEMPT_TORN 2  /* the registers are read, but the kernel has changed a page */
#define NSP_ATTEMPT_LATE 3  /* the same, and the thread was interrupted since */
#define NSP_ATTEMPT_ABORTED \
    4 /* the values are right and in the block: only the record is missing */
#define NSP_ATTEMPTS 5

/* What nsp_detail_emit() leaves for its caller to do. */
#define NSP_EMIT_DONE 0
#define NSP_EMIT_STEP 1 /* set the trap flag again on the way out */

#endif /* NSP_COUNTED_H */
