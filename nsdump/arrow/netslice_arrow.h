/* SPDX-License-Identifier: MIT */
/* arrow: the C interface of libnetslice-arrow: a trace -> record batches of Arrow's C data
 * interface, for Python and other languages. */
#ifndef NETSLICE_ARROW_H
#define NETSLICE_ARROW_H

#include <stddef.h>
#include <stdint.h>

#include "arrow/c_data.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nsl_table {
    NSL_SLICES = 0,
    NSL_UNITS = 1,
    NSL_LOSSES = 2,
    NSL_EVENTS = 3,
    NSL_TABLES = 4,
};

struct nsl_options {
    size_t
        struct_size; /* sizeof(struct nsl_options): programs are built with the library's header */
    uint32_t tables; /* bit by enum nsl_table: those to make, in one pass */
    const char *calibration; /* calibration.json to use; null: the trace's own constants */
    const char *slice;       /* only slices and events with this name; null: all */
    const uint64_t *unit;    /* only slices and events of units with this number; null: all */
    uint64_t limit;          /* of slices, and of events */
    /* Only what ends in this range, both ends included: slices by their STOP, units by their INIT,
     * and events; not losses. Times are since the session's start; null: its start, its end. */
    const int64_t *from_ns;
    const int64_t *to_ns;
};

/* One reading of a trace.  Not for several threads at once; passes are independent. */
struct nsl_pass;

/* Null on failure; `error` receives what is wrong, where, and what to do. */
struct nsl_pass *nsl_pass_open(const char *path, const struct nsl_options *options, char *error,
                               size_t error_bytes);
void nsl_pass_close(struct nsl_pass *pass);

/* 0 or an errno.  The schema's metadata describe the trace, those of a column have its unit. */
int nsl_pass_schema(struct nsl_pass *pass, enum nsl_table table, struct ArrowSchema *out);

/* Other results of nsl_pass_next(). */
enum {
    NSL_NOTHING_YET = -1, /* call it again: it returns at times, so that a caller can be stopped */
    NSL_END = -2,
    NSL_FAILED = -3, /* see nsl_pass_error() */
};

/* The next batch of any of the tables: its enum nsl_table, with `out` filled. */
int nsl_pass_next(struct nsl_pass *pass, struct ArrowArray *out);
const char *nsl_pass_error(const struct nsl_pass *pass);

/* For a display of progress. */
uint64_t nsl_pass_position_bytes(const struct nsl_pass *pass);
uint64_t nsl_pass_size_bytes(const struct nsl_pass *pass);

/* What is wrong with the trace, a line each, as far as it was read; valid until the next call. */
const char *nsl_pass_findings(struct nsl_pass *pass);
/* 1 if something is damaged or missing, so that figures may be wrong. */
int nsl_pass_has_findings(struct nsl_pass *pass);

/* The batches of one table; a batch may have no rows.  0, or -1 with `error` filled. */
int nsl_stream(const char *path, const struct nsl_options *options, enum nsl_table table,
               struct ArrowArrayStream *out, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif

#endif /* NETSLICE_ARROW_H */
