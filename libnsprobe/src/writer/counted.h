/* SPDX-License-Identifier: MIT */
/* C structures for the assembly: byte offsets, checked in thread_begin.c. */
#ifndef NSP_COUNTED_H
#define NSP_COUNTED_H

/* struct nsp_thread, nsp_thread_counter */
#define NSP_THREAD_SERIAL 0
#define NSP_THREAD_REGISTERS_OF 4
#define NSP_THREAD_COUNTER 8
#define NSP_COUNTER_PAGE 0
#define NSP_COUNTER_SPARE_BITS 8
#define NSP_COUNTER_DETOUR 16
#define NSP_COUNTER_BYTES 24

/* struct nsp_site */
#define NSP_SITE_KIND 22

/* struct perf_event_mmap_page */
#define NSP_PAGE_LOCK 8
#define NSP_PAGE_INDEX 12
#define NSP_PAGE_OFFSET 16
#define NSP_PAGE_CAPABILITIES 40
#define NSP_PAGE_CAP_USER_RDPMC_BIT 2

#define NSP_LAST_COUNTED_KIND 2 /* STOP, after START: no other kind carries counters */
#define NSP_COUNTED_MAX 6

/* What nsp_detail_emit() leaves for its caller to do. */
#define NSP_EMIT_DONE 0
#define NSP_EMIT_STEP 1 /* set the trap flag again on the way out */
#define NSP_EMIT_COUNTED \
    2 /* no record yet: counters just started, nsp_detail_counted() writes it */

#endif /* NSP_COUNTED_H */
