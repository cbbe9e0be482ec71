/* SPDX-License-Identifier: MIT */
/* CAPTURE FILTER -> results of PERF_START and PERF_STOP for the filter and for a counter after it,
 * a line each. */
#include <stdio.h>
#include <stdlib.h>

#include <mapi/mapi.h>

static int checked(int result)
{
    char why[MAPI_ERROR_TEXT_BYTES];

    if (result >= 0)
        return result;
    mapi_read_error(NULL, why);
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void show(int flow, int stop, const char *name)
{
    const mapi_perf_t *perf = mapi_read_results(flow, stop)->res;

    printf("%s %s calls=%llu counted=%llu instructions=%llu packets=%llu\n", name, perf->source,
           (unsigned long long)perf->calls, (unsigned long long)perf->counted_calls,
           (unsigned long long)perf->instructions, (unsigned long long)perf->packets);
}

int main(int argc, char **argv)
{
    int flow, of_filter, of_counter;

    if (argc != 3)
        return 2;
    flow = checked(mapi_create_offline_flow(argv[1], MFF_PCAP));
    checked(mapi_apply_function(flow, "PERF_START"));
    checked(mapi_apply_function(flow, "BPF_FILTER", argv[2]));
    of_filter = checked(mapi_apply_function(flow, "PERF_STOP"));
    checked(mapi_apply_function(flow, "PERF_START"));
    checked(mapi_apply_function(flow, "PKT_COUNTER"));
    of_counter = checked(mapi_apply_function(flow, "PERF_STOP"));
    checked(mapi_connect(flow));
    checked(mapi_wait_flow(flow, -1));
    show(flow, of_filter, "BPF_FILTER");
    show(flow, of_counter, "PKT_COUNTER");
    return mapi_close_flow(flow) < 0;
}
