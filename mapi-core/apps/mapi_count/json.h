/* SPDX-License-Identifier: MIT */
/* json: counts -> schema netslice-mapi-count-1. */
#ifndef MAPI_COUNT_JSON_H
#define MAPI_COUNT_JSON_H

#include "count.h"

/* One object, on one line. */
void print_json(const struct options *options, const struct filter *filters, int count,
                const struct mapi_stat *stats, int code);

#endif /* MAPI_COUNT_JSON_H */
