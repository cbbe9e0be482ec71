/* SPDX-License-Identifier: MIT */
/* count: a capture or a device, and filters -> a line for each filter. */
#include "count.h"

#include <mapi/mapi.h>
#include <stdio.h>
#include <time.h>

#include "common/command/signals.h"

enum { LOOK_MS = 200 };

/* The library's message names the file or the expression. */
static int fail(int code)
{
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(&number, text);
    fprintf(stderr, "mapi-count: %s (error %d)\n", text, number);
    return code;
}

static int set_option(const char *device, const char *option, const char *key, const char *value)
{
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "";

    if (!value || mapi_set_device_option(device, key, value) == 0)
        return 0;
    mapi_read_error(&number, text);
    fprintf(stderr, "mapi-count: %s: %s (error %d)\n", option, text, number);
    return EXIT_REFUSED;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int add_flow(const char *device, const struct options *options, struct filter *filter)
{
    filter->flow =
        captures_create_flow(device, options->waits, options->is_quiet ? NULL : "mapi-count");
    if (filter->flow < 0)
        return command_was_interrupted() ? EXIT_INTERRUPTED : fail(EXIT_REFUSED);
    if (*filter->expression) {
        const int applied =
            options->strings
                ? mapi_apply_function(filter->flow, "STR_SEARCH", filter->expression, 0, 0)
                : mapi_apply_function(filter->flow, "BPF_FILTER", filter->expression);
        if (applied < 0)
            return fail(EXIT_REFUSED);
    }
    filter->packets = mapi_apply_function(filter->flow, "PKT_COUNTER");
    filter->bytes = mapi_apply_function(filter->flow, "BYTE_COUNTER");
    if (filter->packets < 0 || filter->bytes < 0 || mapi_connect(filter->flow) < 0)
        return fail(EXIT_REFUSED);
    return 0;
}

/* -1: no count is available because mapid has ended; it must not be reported as 0. */
static int read_count(int flow, int function, unsigned long long *count)
{
    const unsigned long long *value = mapi_read_results(flow, function, MAPI_REF);

    if (!value)
        return -1;
    *count = *value;
    return 0;
}

/* Waits for the end of the flow, a time or an interrupt; -1: mapid has ended. */
static int wait_for_end(int flow, double end_s)
{
    int number = 0;

    while (!command_was_interrupted()) {
        const double left_s = end_s > 0 ? end_s - now_s() : LOOK_MS * 1e-3;
        const int wait_ms = left_s < LOOK_MS * 1e-3 ? (int)(left_s * 1000) + 1 : LOOK_MS;

        if (left_s <= 0 || mapi_wait_flow(flow, wait_ms) == 0)
            return 0;

        char text[MAPI_ERROR_TEXT_BYTES];
        mapi_read_error(&number, text);
        if (number == MAPI_TIMED_OUT)
            continue;
        fprintf(stderr, "mapi-count: %s\n", text);
        return -1;
    }
    return 0;
}

static void tell(unsigned long long packets, const char *why)
{
    if (packets > 0)
        fprintf(stderr, "mapi-count: %llu %s %s\n", packets,
                packets == 1 ? "packet was" : "packets were", why);
}

/* Reports packets that are missing from the counts.  Returns whether there are any. */
static int tell_losses(const struct mapi_stat *stats)
{
    tell(stats->drop_kernel,
         "dropped because the kernel's buffer was full (increase buffer_mb in mapi.conf)");
    tell(stats->ps_ifdrop, "lost by the interface or during recording");
    return stats->drop_kernel > 0 || stats->ps_ifdrop > 0;
}

static int take_results(struct filter *filter, double seconds)
{
    filter->seconds = seconds;
    return read_count(filter->flow, filter->packets, &filter->found_packets) < 0 ||
                   read_count(filter->flow, filter->bytes, &filter->found_bytes) < 0
               ? -1
               : 0;
}

static int report(const char *device, const struct options *options, struct filter *filters,
                  int count, double seconds, struct mapi_stat *reported)
{
    struct mapi_stat stats;
    int is_short, i;

    for (i = 0; i < count; i++) {
        if (take_results(&filters[i], seconds) < 0)
            return fail(EXIT_REFUSED);
        if (!options->is_json)
            fprintf(options->out, "%llu\t%llu\t%.6f\t%s\n", filters[i].found_packets,
                    filters[i].found_bytes, seconds, filters[i].expression);
    }
    if (mapi_stats(device, &stats) < 1)
        return fail(EXIT_REFUSED);
    *reported = stats;
    if (stats.drop_link_type > 0)
        fprintf(stderr,
                "mapi-count: %llu time%s a filter did not support the link type of a packet; "
                "counted as no match\n",
                (unsigned long long)stats.drop_link_type, stats.drop_link_type == 1 ? "" : "s");
    if (*stats.message)
        fprintf(stderr, "mapi-count: %s\n", stats.message);
    if (*stats.remark)
        fprintf(stderr, "mapi-count: %s\n", stats.remark);
    is_short = tell_losses(&stats);
    if (!options->device && command_was_interrupted())
        fprintf(stderr, "mapi-count: interrupted; the counts cover the first %llu packets\n",
                (unsigned long long)stats.ps_recv);
    if (stats.unread_bytes > 0)
        fprintf(
            stderr,
            "mapi-count: %llu bytes were not read; the counts cover the %llu packets before them\n",
            (unsigned long long)stats.unread_bytes, (unsigned long long)stats.ps_recv);
    return is_short || *stats.message || stats.unread_bytes ? EXIT_DAMAGED : EXIT_COUNTED;
}

static int count_on(const char *device, const struct options *options, struct filter *filters,
                    int count, struct mapi_stat *stats)
{
    double begin;
    int code = set_option(device, "--batch", "batch", options->batch);
    int i;

    if (!code)
        code = set_option(device, "--count", "packets", options->packets);
    for (i = 0; i < count && !code; i++)
        code = add_flow(device, options, &filters[i]);
    if (code)
        return code;
    /*
     * Not earlier: while a pipe without a writer is being opened, the signal itself must end
     * the program.
     */
    if (!command_was_interrupted())
        command_catch_interrupts();
    begin = now_s();
    if (!options->device && mapi_start_offline_device(device) < 0)
        return fail(EXIT_REFUSED);
    for (i = 0; i < count; i++)
        if (wait_for_end(filters[i].flow, options->seconds > 0 ? begin + options->seconds : 0) < 0)
            return EXIT_REFUSED;
    code = report(device, options, filters, count, now_s() - begin, stats);
    /* An interrupt is the normal end for a device. */
    return command_was_interrupted() && !options->device ? EXIT_INTERRUPTED : code;
}

static void close_flows(const struct filter *filters, int count)
{
    int i;

    for (i = 0; i < count; i++)
        if (filters[i].flow > 0)
            mapi_close_flow(filters[i].flow);
}

int count_once(const struct options *options, struct filter *filters, int count,
               struct mapi_stat *stats)
{
    char *device;
    int code;

    if (options->device) {
        code = count_on(options->device, options, filters, count, stats);
        close_flows(filters, count);
        return code;
    }
    device = captures_open(&options->captures, options->is_erf ? MFF_DAG_ERF : MFF_PCAP,
                           options->is_quiet ? NULL : "mapi-count");
    if (!device)
        return fail(EXIT_REFUSED);
    code = count_on(device, options, filters, count, stats);
    close_flows(filters, count);
    mapi_delete_offline_device(device);
    return code;
}
