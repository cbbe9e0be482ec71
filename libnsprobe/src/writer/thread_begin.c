/* SPDX-License-Identifier: MIT */
/* First probe of a thread in a session with counters: runs ordinary code, registers saved. */
#include "thread_begin.h"

#include <errno.h>
#include <linux/perf_event.h>

#include <nsprobe/detail/site.h>

#include "arch.h"
#include "counted.h"
#include "counters/counters.h"
#include "thread.h"

#define SAME_OFFSET(type, field, offset) \
    _Static_assert(__builtin_offsetof(struct type, field) == (offset), "assembly offset")
SAME_OFFSET(nsp_counted, slot, NSP_COUNTED_SLOT);
SAME_OFFSET(nsp_counted, slot[1], NSP_COUNTED_SLOT + NSP_COUNTED_SLOT_BYTES);
SAME_OFFSET(nsp_counted, slot[0].page, NSP_COUNTED_SLOT + 8);
SAME_OFFSET(nsp_counted, reader, NSP_COUNTED_READER);
SAME_OFFSET(nsp_counted, offset, NSP_COUNTED_OFFSET);
SAME_OFFSET(nsp_counted, value, NSP_COUNTED_VALUE);
SAME_OFFSET(nsp_counted, page, NSP_COUNTED_PAGE);
SAME_OFFSET(nsp_counted, lock, NSP_COUNTED_LOCK);
SAME_OFFSET(nsp_counted, spare_bits, NSP_COUNTED_SPARE_BITS);
SAME_OFFSET(nsp_counted, head, NSP_COUNTED_HEAD);
SAME_OFFSET(nsp_counted, thread_and_count, NSP_COUNTED_THREAD_AND_COUNT);
SAME_OFFSET(nsp_counted, step, NSP_COUNTED_STEP);
SAME_OFFSET(nsp_counted, has_written, NSP_COUNTED_HAS_WRITTEN);
SAME_OFFSET(nsp_counted, state, NSP_COUNTED_STATE);
SAME_OFFSET(nsp_site, head_bits, NSP_DETAIL_SITE_HEAD_BITS);
SAME_OFFSET(nsp_site, mode, NSP_DETAIL_SITE_MODE);
SAME_OFFSET(perf_event_mmap_page, lock, NSP_PAGE_LOCK);
_Static_assert(NSP_SITE_KIND == NSP_DETAIL_SITE_HEAD_BITS + 2,
               "the kind is the third byte of head_bits");
_Static_assert(NSLICE_KIND_START < NSP_LAST_COUNTED_KIND &&
                   NSLICE_KIND_STOP == NSP_LAST_COUNTED_KIND,
               "counted kinds");
_Static_assert(NSLICE_MAX_COUNTERS == NSP_COUNTED_MAX,
               "counters that the assembly is written out for");

static void begin(void)
{
    const struct nsp_counter_ops *source = __atomic_load_n(&nsp_active_source, __ATOMIC_RELAXED);
    const int saved_errno = errno;

    nsp_thread_release_counters();
    nsp_thread.counters_failed = !source || source->thread_begin() != 0;
    errno = saved_errno;
}

void nsp_thread_release_counters(void)
{
    void (*const release)(void) = nsp_thread.release;

    nsp_thread.release = NULL;
    if (release)
        release();
}

void nsp_thread_begin_counters(void)
{
    /* A signal handler's probe in the middle of this writes no counter words. */
    nsp_thread.counters_failed = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    nsp_thread.generation = nsp_session_generation;
    nsp_detail_call_saving_vectors(begin);
}
