/* SPDX-License-Identifier: MIT */
/* count: a capture, or a device, and filters -> a line for each, and what is to be told about the capture. */
#ifndef MAPI_COUNT_COUNT_H
#define MAPI_COUNT_COUNT_H

#include "filters.h"

enum exit_code {
	EXIT_COUNTED = 0,
	EXIT_DAMAGED = 1,     /* the file contradicts itself or could not be read to its end, or packets were lost; the counts are of what was read */
	EXIT_USAGE = 2,
	EXIT_REFUSED = 3,     /* no such file, a filter that does not compile, or no room for the output */
	EXIT_INTERRUPTED = 130,
};

struct options {
	const char *capture; /* or the device */
	const char *batch;
	int separately;
	int strings;
	int is_device;
	int is_erf;
};

/* Reads the capture once, for all filters together; a device until it ends or the user does. */
int count_once(const struct options *options, struct filter *filters, int count);

#endif /* MAPI_COUNT_COUNT_H */
