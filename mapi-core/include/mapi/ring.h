/* SPDX-License-Identifier: MIT */
/*
 * The ring: hands records of a function to a client one by one.  One writer, the device's thread;
 * one reader, possibly in another process.
 */
#ifndef MAPI_RING_H
#define MAPI_RING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mapi_ring;
struct mapi_function_setup;

enum mapi_ring_flags {
    /*
     * reserve() waits until the reader has made room; otherwise records that find no room are
     * dropped
     */
    MAPI_RING_WRITER_WAITS = 1u << 0,
    /* a reader that finds nothing returns; otherwise it waits */
    MAPI_RING_READER_RETURNS = 1u << 1,
};

/* Has no size member: it grows only together with struct mapi_function. */
struct mapi_ring_options {
    uint32_t flags; /* enum mapi_ring_flags */
    /* room that only reserve_last() may use, for the last records of end() */
    uint32_t spare_bytes;
    uint64_t bytes; /* for records with 8 bytes before each; rounded up to a power of two */
    /*
     * If not 0, it replaces `bytes` and the flow's options: room for exactly this number of
     * records of record_bytes each, or for as many as 1 GiB holds.  A longer record is dropped.
     */
    uint32_t records;
    uint32_t record_bytes;
};

/*
 * Calls of the engine for a function, whose ring lives as long as its instance.  The engine cancels
 * the ring and reports its drops.  It ends the ring after end(), unless the function has
 * is_settled() and does that itself.
 */
struct mapi_ring_calls {
    /* During create(), once.  NULL: out of memory. */
    struct mapi_ring *(*make)(const struct mapi_function_setup *setup,
                              const struct mapi_ring_options *options);
    /*
     * Device's thread: contiguous room for one record, aligned to 8.  NULL: no room; a drop is
     * counted.
     */
    void *(*reserve)(struct mapi_ring *ring, uint32_t bytes);
    /* During end(): the same, but never waits. */
    void *(*reserve_last)(struct mapi_ring *ring, uint32_t bytes);
    /* Device's thread, once per batch: makes all reserved records available to the reader. */
    void (*publish)(struct mapi_ring *ring);
    /* Device's thread: there will be no more records, even if packets arrive. */
    void (*end)(struct mapi_ring *ring);
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_RING_H */
