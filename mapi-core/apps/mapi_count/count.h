/* SPDX-License-Identifier: MIT */
/* count: a capture, or a device, and filters -> a line for each, and what is to be told about the capture. */
#ifndef MAPI_COUNT_COUNT_H
#define MAPI_COUNT_COUNT_H

#include <mapi/results.h>

#include "captures/captures.h"
#include "filters.h"

enum exit_code {
	EXIT_COUNTED = 0,
	EXIT_DAMAGED = 1,     /* the file contradicts itself or could not be read to its end, or packets were lost; the counts are of what was read */
	EXIT_USAGE = 2,
	EXIT_REFUSED = 3,     /* no such file, a filter that does not compile, or no room for the output */
	EXIT_INTERRUPTED = 130,
};

struct options {
	struct captures captures;
	const char *device; /* in their place, or NULL */
	const char *batch;
	int separately;
	int strings;
	int is_erf;
	int waits;   /* for a device that is not there yet */
	int is_json;
	int has_input_of_expressions; /* standard input is read for them */
};

/* Reads the captures once, for all filters together; a device until it ends or the user does. */
int count_once(const struct options *options, struct filter *filters, int count, struct mapi_stat *stats);

#endif /* MAPI_COUNT_COUNT_H */
