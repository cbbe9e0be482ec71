/* SPDX-License-Identifier: MIT */
/* count: a capture or a device, and filters -> a line for each filter, and warnings about the
 * capture. */
#ifndef MAPI_COUNT_COUNT_H
#define MAPI_COUNT_COUNT_H

#include <stdio.h>

#include <mapi/results.h>

#include "captures/captures.h"
#include "filters.h"

enum exit_code {
    EXIT_COUNTED = 0,
    EXIT_DAMAGED = 1, /* the capture is malformed or was not read to its end, or packets were lost;
                         the counts cover what was read */
    EXIT_USAGE = 2,
    EXIT_REFUSED =
        3, /* no such file, a filter that does not compile, or the output cannot be written */
    EXIT_INTERRUPTED = 130,
};

struct options {
    struct captures captures;
    const char *device; /* instead of captures, or NULL */
    const char *batch;
    const char *packets; /* to stop after; NULL: all */
    const char *output;  /* a file instead of standard output, or NULL */
    FILE *out;           /* what is printed goes there */
    double seconds;      /* how long to read a device; 0: until an interrupt */
    int is_quiet;
    int separately;
    int strings;
    int is_erf;
    int waits; /* for a device that does not exist yet */
    int is_json;
    const char *format; /* of --format, or NULL */
    int is_per_packet;
    int has_input_of_expressions; /* expressions are read from standard input */
};

/* Reads the captures once for all filters; a device until it ends, the time is up or the user
 * interrupts. */
int count_once(const struct options *options, struct filter *filters, int count,
               struct mapi_stat *stats);

#endif /* MAPI_COUNT_COUNT_H */
