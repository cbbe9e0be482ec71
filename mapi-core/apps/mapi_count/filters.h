/* SPDX-License-Identifier: MIT */
/* filters: command line and files -> a list of expressions. */
#ifndef MAPI_COUNT_FILTERS_H
#define MAPI_COUNT_FILTERS_H

struct filter {
    char *expression; /* "" counts everything */
    int flow, packets, bytes;
    /* The counts, and the seconds that counting took. */
    unsigned long long found_packets, found_bytes;
    double seconds;
};

/* Copies the expression. */
struct filter *append(struct filter *filters, int *count, const char *expression);
struct filter *append_file(struct filter *filters, int *count, const char *path);
void free_filters(struct filter *filters, int count);

#endif /* MAPI_COUNT_FILTERS_H */
