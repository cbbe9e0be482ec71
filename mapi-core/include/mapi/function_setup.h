/* SPDX-License-Identifier: MIT */
/* The setup: what the engine hands to create() of a function. */
#ifndef MAPI_FUNCTION_SETUP_H
#define MAPI_FUNCTION_SETUP_H

#include <stdint.h>

#include "function_arguments.h"
#include "ring.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MAPI_RESULT_BYTES_MAX (6u << 20)

struct mapi_perf;  /* results.h */
struct mapi_batch; /* batch.h */

/*
 * An object that instances of one client's functions share.  The address of this struct identifies
 * its kind: it is static, and lives as long as the table.  Members are only appended.
 */
struct mapi_common_object {
    uint32_t struct_size; /* sizeof(struct mapi_common_object) */
    /*
     * A client's thread, one at a time.  Neither waits nor requests common objects.  NULL: out
     * of memory.
     */
    void *(*create)(void);
    /* Any thread, once the object is no longer used. */
    void (*destroy)(void *object);
    uint64_t bytes; /* maximum size of the object */
    /*
     * Device's thread: each batch of packets that the device reads, while an instance is in a
     * connected flow, before functions get it and whatever they filter.  With it there is one
     * object for each device.  NULL: the object is common to all devices.
     */
    void (*watch)(void *object, const struct mapi_batch *batch);
};

/*
 * The parameters of create().  Everything pointed to except `result` is only valid during the call,
 * unless stated otherwise.  Members are only appended.
 */
struct mapi_function_setup {
    uint32_t struct_size;
    uint32_t argument_count;
    const struct mapi_argument *arguments; /* one for each of the table's arguments */
    void *result; /* result_bytes of zeroed memory; process() writes, the engine publishes it after
                     each burst */
    char *error;  /* create() may explain a refusal here */
    uint32_t error_bytes;

    /* The device. */
    uint32_t device_flags;    /* enum mapi_device_flags */
    uint32_t snaplen;         /* 0 if unknown */
    uint32_t interface_index; /* of the network interface that is read; 0: not an interface */
    uint16_t link_type;       /* or MAPI_LINK_UNKNOWN */

    /* The flow and the configuration. */
    uint32_t snap_bytes; /* maximum bytes of each packet that copies for the client keep; 0: all */
    const char *config;  /* lines "key=value" of the section that the table names; NULL: none */
    /*
     * with MAPI_FUNCTION_METER_END: the measured values; lives as long as the instance, valid
     * during process()
     */
    const struct mapi_perf *meter;

    /* Requests to the engine, only during create().  All calls take this setup. */
    void *engine; /* private to the engine */
    /*
     * With MAPI_FUNCTION_RESULT_IN_PLACE: returns zeroed memory that lives as long as the
     * instance, at most MAPI_RESULT_BYTES_MAX; NULL: out of memory.  Without a call there is no
     * result.
     */
    uint64_t *(*allocate_result)(const struct mapi_function_setup *setup, uint32_t bytes);
    /*
     * Lives as long as the instance; a ring requires one of the two flags ..._IN_RING, or
     * compose().
     */
    const struct mapi_ring_calls *ring;
    /* Makes the engine run batches packet by packet on the flow's device while it is connected. */
    void (*take_single_packets)(const struct mapi_function_setup *setup);
    /*
     * Counts the maximum memory that the instance could hold with its tables full, except a few
     * thousand bytes, its arguments and what the engine provides through this struct.  Called
     * before the memory is taken, or immediately afterwards if only a library knows the size,
     * and more than once if necessary.  0, or MAPI_LIMIT_REACHED: the client's limit is
     * exceeded, and create() fails with any number; the engine reports the cause.
     */
    int (*reserve_memory)(const struct mapi_function_setup *setup, uint64_t bytes);
    /*
     * The object is created for the first of the client's instances that requests it, and lives
     * as long as any of them and the client.  NULL: create() must fail.
     */
    void *(*common_object)(const struct mapi_function_setup *setup,
                           const struct mapi_common_object *kind);
    /*
     * For state that functions of several flows share: the instance, and the functions after it in
     * its flow, get packets one by one.  For each packet they run in the order in which flows were
     * connected, after all functions that do not need it.  No other flow uses the instance.
     */
    void (*run_in_order)(const struct mapi_function_setup *setup);
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_FUNCTION_SETUP_H */
