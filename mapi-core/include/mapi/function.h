/* SPDX-License-Identifier: MIT */
/*
 * The function table: what a MAPI function must provide.  A complete function, which passes large
 * packets:
 *
 *     static uint64_t process(void *instance, const struct mapi_batch *batch, uint64_t mask)
 *     {
 *         uint64_t passed = 0;
 *         for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
 *             if (batch->packets[__builtin_ctzll(rest)].wire_len >= 1000)
 *                 passed |= rest & -rest;
 *         return passed;
 *     }
 *     static const struct mapi_function large = {
 *         .abi = MAPI_FUNCTION_ABI, .struct_size = sizeof(large),
 *         .name = "LARGE", .description = "passes large packets",
 *         .flags = MAPI_FUNCTION_PURE, .process = process,
 *     };
 *
 * mapi-core/functions/WRITE_A_FUNCTION.md in the source tree shows how to build and run it as a
 * plug-in.
 */
#ifndef MAPI_FUNCTION_H
#define MAPI_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "function_arguments.h"
#include "function_parts.h"
#include "function_setup.h"
#include "ring.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members are only appended within a version; struct_size is the size that a table has. */
#define MAPI_FUNCTION_ABI 2

enum mapi_function_flags {
    /*
     * The verdict, and the result if there is one, depend only on the arguments and the last
     * packet: flows with the same arguments at the same place share one instance.  A count is
     * ADDITIVE instead.
     */
    MAPI_FUNCTION_PURE = 1u << 0,
    /*
     * The result is one uint64_t that only increases with packets: shared in the same way; each
     * flow subtracts the value at the time when it joined.
     */
    MAPI_FUNCTION_ADDITIVE = 1u << 1,
    /*
     * process() returns the mask it gets: the following functions see the packets that this
     * function saw, and can be shared with flows without it.
     */
    MAPI_FUNCTION_PASSES_ALL = 1u << 2,
    /*
     * The result also changes with the results that the function refers to: process() is also
     * called for batches without a packet for it.
     */
    MAPI_FUNCTION_EVERY_BATCH = 1u << 3,
    /*
     * The result consists of many counts, whose number depends on the arguments, or it changes
     * while no packets arrive: create() calls setup->allocate_result() once for its memory.  It
     * is only changed with mapi_result_set() and not copied after each burst: a reader may get
     * counts of two batches.  MAPI_FUNCTION_RESULT_COPIED changes both.
     */
    MAPI_FUNCTION_RESULT_IN_PLACE = 1u << 4,
    /*
     * With MAPI_FUNCTION_RESULT_IN_PLACE: the memory of allocate_result() is private to the
     * function and written like any memory, on the device's thread; readers get a copy that is
     * consistent.  The copy is made after a burst that had packets for the function, but less
     * often the larger the result is, so that readers have time to read it; and also when no
     * packets arrive, at a reset, and at the end.  Cannot be combined with compose().
     */
    MAPI_FUNCTION_RESULT_COPIED = 1u << 5,
    /*
     * Results are returned one by one, result_bytes each, through the ring that create() makes;
     * without a ring there are none.
     */
    MAPI_FUNCTION_RESULTS_IN_RING = 1u << 6,
    /* The ring that create() makes contains packets, each as a struct mapipkt. */
    MAPI_FUNCTION_PACKETS_IN_RING = 1u << 7,
    /*
     * Packets leave the machine with the privileges of the process that runs the engine: mapid
     * only allows it for some users.
     */
    MAPI_FUNCTION_SENDS = 1u << 8,
    /*
     * The flow's functions between a function with the first flag and the next one with the
     * second flag are measured, each by itself; such pairs nest.  The second function reads
     * setup->meter, and has MAPI_FUNCTION_EVERY_BATCH as well.
     */
    MAPI_FUNCTION_METER_BEGIN = 1u << 9,
    MAPI_FUNCTION_METER_END = 1u << 10,
    /*
     * The instances of a node group may get different masks: process() of the group gets the
     * packets of all of them, and a packet that it passes counts for an instance only if that
     * instance's own mask contains it.
     */
    MAPI_FUNCTION_GROUP_OF_ANY_MASKS = 1u << 11,
    /*
     * State that begins with the flow's first packet, but no other difference: flows of one client
     * that are connected in one step, and begin with the function and the same arguments, share one
     * instance.  Requires no ring, no reset() and no ending.
     */
    MAPI_FUNCTION_SHARED_BY_STEP = 1u << 12,
};

/* Sets one word of a result in place.  Any thread, but one at a time. */
static inline void mapi_result_set(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* Reads one word of a result in place.  Any thread. */
static inline uint64_t mapi_result_get(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

struct mapi_function_drops {
    uint64_t buffer_full;
    uint64_t link_type;
    uint64_t not_written; /* packets or rows that could not be written to a file */
    int write_error;      /* errno of the cause */
    /* steps back of the packets' time, and silences longer than reported; no packet is lost */
    uint64_t time_jumps;
    /* packets, not dropped, with a required header that is cut, malformed or encrypted */
    uint64_t unread_headers;
    /* cause and remedy if the errno is not sufficient, a string that is never freed; or NULL */
    const char *write_reason;
    /* packets, not dropped, about which a filter could not decide within its limit of steps */
    uint64_t given_up;
};

struct mapi_function {
    uint32_t abi;            /* MAPI_FUNCTION_ABI */
    uint32_t struct_size;    /* sizeof(struct mapi_function) */
    const char *name;        /* required; by which flows use it */
    const char *description; /* required */
    uint32_t flags;          /* enum mapi_function_flags */
    uint32_t result_bytes;   /* at most MAPI_RESULT_BYTES_MAX; 0: none, or one in place */

    /*
     * Client's thread, when the function is applied.  0, or an error number of errors.h.  NULL:
     * the result is all the state that the function has; `instance` points to it, and is NULL
     * if there is none.
     */
    int (*create)(const struct mapi_function_setup *setup, void **instance);
    /*
     * Required.  Device's thread.  Never called with an empty mask, except with
     * MAPI_FUNCTION_EVERY_BATCH; returns a subset of mask: the packets that pass.
     */
    uint64_t (*process)(void *instance, const struct mapi_batch *batch, uint64_t mask);
    /* Any thread, once the instance is no longer used.  NULL: nothing to do, or no create(). */
    void (*destroy)(void *instance);

    /* All members below may be NULL or 0. */
    /*
     * For create(): enum mapi_argument_kind, with MAPI_OPTIONAL added if it may be omitted; 0
     * ends the list.
     */
    uint16_t arguments[MAPI_ARGUMENTS_MAX + 1];
    /*
     * Device's thread, between two bursts, or any thread while the device does not run; for a
     * function that is neither PURE nor ADDITIVE: restores the result and all state to what it was
     * after create().  NULL: the function cannot be reset.
     */
    void (*reset)(void *instance);
    /*
     * Device's thread, on a live device, at intervals of about 10 ms, also while no packets
     * arrive: no packet with a time stamp before now_ns will arrive.  Never called on other
     * devices, where time is that of the packets.
     */
    void (*tick)(void *instance, uint64_t now_ns);
    /* Any thread: adds what the instance has dropped. */
    void (*drops)(const void *instance, struct mapi_function_drops *drops);
    /*
     * Maximum length of each text from a client of mapid, if create() takes long for longer
     * ones; 0: no limit.
     */
    uint32_t text_bytes_max;
    const struct mapi_function_ending *ending;
    const struct mapi_function_result *result;
    const struct mapi_function_transform *transform;
    const struct mapi_function_filter *filter;
    const struct mapi_function_group *group;
    const struct mapi_function_config *config;
    const struct mapi_function_offload *offload;
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_FUNCTION_H */
