/* SPDX-License-Identifier: MIT */
/* STARTs, STOPs and MARKs of a short span of time -> which names lie inside which. */
#ifndef NSLICE_NESTING_H
#define NSLICE_NESTING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names that can be switched off one by one; further ones stay on. */
#define NSP_THIN_NAMES 256

#define NSP_MOST_LEVELS 15
#define NSP_MOST_THREADS 16 /* of one CPU that a window follows */
#define NSP_MOST_OPEN 16

struct nsp_nesting {
    /* How often each name's START or MARK was seen, and how often inside each other name. */
    uint32_t seen[NSP_THIN_NAMES], inside[NSP_THIN_NAMES][NSP_THIN_NAMES];
    uint64_t around[NSP_THIN_NAMES][NSP_THIN_NAMES / 64]; /* names that count as around each */
    uint8_t level[NSP_THIN_NAMES]; /* 0: not inside another; else more than those around it */
    uint32_t levels;               /* the greatest one */
    uint32_t inner_count;
    int has_changed;               /* `around`, since the levels were found */
    uint8_t inner[NSP_THIN_NAMES]; /* names of a level above 0 */
};

struct nsp_open_slice {
    uint64_t inside[NSP_THIN_NAMES / 64]; /* names that began while it was open */
    uint8_t name;
};

/* The slices that a thread has opened in a window. */
struct nsp_open_slices {
    uint32_t thread;
    uint32_t depth;
    uint32_t deeper; /* beyond NSP_MOST_OPEN */
    struct nsp_open_slice slices[NSP_MOST_OPEN];
};

/* A span of time of one CPU in which the same names were on.  All zeros: nothing is open. */
struct nsp_window {
    struct nsp_open_slices threads[NSP_MOST_THREADS];
    uint32_t count;
};

/* The next record of the window's CPU.  name: below NSP_THIN_NAMES.  kind: NSLICE_KIND_*. */
void nsp_nesting_take(struct nsp_nesting *nesting, struct nsp_window *window, uint32_t kind,
                      uint8_t name, uint32_t thread);

/* After a window: finds the levels again if that is necessary. */
void nsp_nesting_settle(struct nsp_nesting *nesting);

#ifdef __cplusplus
}
#endif

#endif /* NSLICE_NESTING_H */
