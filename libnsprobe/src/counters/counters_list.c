/* SPDX-License-Identifier: MIT */
/* Counters of this machine, and which of them a program may use. */
#include <nsprobe/counters.h>

#include <errno.h>

#include "event_libpfm.h"
#include "perf_counter.h"
#include "session/error.h"
#include "session/process.h"

int nsp_counters_visit(nsp_counter_visitor visit, void *context)
{
    char why[160];
    int err;

    for (unsigned i = 0; nsp_event_generic(i); ++i)
        visit(nsp_event_generic(i), context);
    err = nsp_libpfm_visit(visit, context, why, sizeof(why));
    return err ? nsp_fail(err, "%s", why) : 0;
}

enum nsp_counter_access nsp_counter_try(const char *name)
{
    struct nsp_perf_counter counter;
    struct nsp_event event;
    int err = nsp_event_find(name, &event), has_user_reads;

    if (err)
        return NSP_COUNTER_REFUSED;
    nsp_perf_ask_for_user_reads(&event);
    err = nsp_perf_counter_open(&event, &counter);
    if (err) {
        nsp_perf_explain_refusal(name, &event, -err);
        return NSP_COUNTER_REFUSED;
    }
    has_user_reads = nsp_perf_counter_has_user_reads(&counter);
    nsp_perf_counter_close(&counter);
    if (has_user_reads)
        return NSP_COUNTER_USER_READS;
    nsp_perf_explain_no_user_reads(name);
    return NSP_COUNTER_PERF_READ;
}

int nsp_source_try(enum nsp_counter_source source, const char *counters)
{
    const struct nsp_session_config config = {
        .struct_size = sizeof(config), .counters = counters, .source = source};

    return nsp_process_check(&config);
}
