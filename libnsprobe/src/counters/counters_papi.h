/* SPDX-License-Identifier: MIT */
/* Shared by the halves of counter source `papi`: inside a probe, and calling PAPI. */
#ifndef NSP_COUNTERS_PAPI_H
#define NSP_COUNTERS_PAPI_H

#include <nslice/record.h>

#include "writer/thread.h"

struct nsp_papi_thread {
    int event_set;
    int is_reading; /* a probe in a signal handler must not enter PAPI again */
    int result;     /* of the last PAPI_read() */
    long long values[NSLICE_MAX_COUNTERS];
};

extern NSP_THREAD_LOCAL struct nsp_papi_thread nsp_papi_thread;

/* Reads the thread's event set into its values with PAPI_read(). */
void nsp_papi_read_now(void);

#endif /* NSP_COUNTERS_PAPI_H */
