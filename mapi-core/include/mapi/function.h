/* SPDX-License-Identifier: MIT */
/*
 * The function table: what a MAPI function must provide.  Takes the mask of live packets and
 * returns the mask of packets that pass.
 */
#ifndef MAPI_FUNCTION_H
#define MAPI_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#include "packet.h"
#include "ring.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members are only appended within a version; struct_size is the size that a table has. */
#define MAPI_FUNCTION_ABI 1

#define MAPI_RESULT_BYTES_MAX (6u << 20)

#define MAPI_LINK_MIXED 0xffff   /* the batch holds packets of several link types */
#define MAPI_LINK_UNKNOWN 0xfffe /* unknown before the device's first packet */

struct mapi_prefiltered; /* driver.h */

/*
 * Up to MAPI_BATCH_MAX packets; bit i of a mask stands for packets[i].  Valid only during the call.
 */
struct mapi_batch {
    const struct mapi_packet *packets;
    uint64_t all;        /* mask with one bit for each packet of the batch */
    uint64_t wire_bytes; /* sum of wire_len over the batch */
    uint32_t count;
    uint16_t link_type; /* of every packet, or MAPI_LINK_MIXED */
    uint16_t reserved;
    const struct mapi_prefiltered
        *prefiltered; /* from driver to engine (driver.h), or NULL; functions ignore it */
};

/*
 * Another function's result, which a function takes as an argument.  The engine keeps it up to
 * date: it is valid during process() and values(), on the device's thread.
 */
struct mapi_reference {
    uint64_t before; /* the result's first word before this batch */
    /* what does not belong to the referenced flow: subtract it from `before` and values */
    uint64_t base;
    /* packets of this batch that changed it; none if it is on another device */
    uint64_t mask;
    const uint64_t *values; /* its first word after packet i, for each bit i of mask */
    uint64_t has_before;    /* 0: it has no value yet */
    uint64_t is_count;      /* it only increases with packets; valid from create() on */
    /*
     * The whole result after this batch; NULL: there is none yet.  To have it after each
     * packet, create() requests single packets with setup->take_single_packets().
     */
    const uint64_t *words;
    uint64_t bytes;    /* valid from create() on */
    uint64_t is_array; /* it has no single value, only words; valid from create() on */
};

/*
 * Whether there is a value after packet i of the batch has passed the referenced function, and the
 * value.
 */
static inline int mapi_reference_read(const struct mapi_reference *reference, uint32_t i,
                                      uint64_t *value)
{
    const uint64_t until = reference->mask & (~(uint64_t)0 >> (63 - i));

    *value = (until ? reference->values[63 - __builtin_clzll(until)] : reference->before) -
             reference->base;
    return until || reference->has_before;
}

/* The same before packet i. */
static inline int mapi_reference_read_before(const struct mapi_reference *reference, uint32_t i,
                                             uint64_t *value)
{
    if (i > 0)
        return mapi_reference_read(reference, i - 1, value);
    *value = reference->before - reference->base;
    return reference->has_before != 0;
}

/* Fills in all members of a batch that follow from its packets, at most MAPI_BATCH_MAX. */
static inline void mapi_batch_fill(struct mapi_batch *batch, const struct mapi_packet *packets,
                                   uint32_t count)
{
    batch->packets = packets;
    batch->count = count;
    batch->all = count == 0 ? 0 : ~(uint64_t)0 >> (MAPI_BATCH_MAX - count);
    batch->wire_bytes = 0;
    batch->prefiltered = NULL;
    batch->link_type = count == 0 ? MAPI_LINK_UNKNOWN : packets[0].link_type;
    for (uint32_t i = 0; i < count; ++i) {
        batch->wire_bytes += packets[i].wire_len;
        if (packets[i].link_type != batch->link_type)
            batch->link_type = MAPI_LINK_MIXED;
    }
}

/* An instruction of a classic BPF program, like libpcap's struct bpf_insn. */
struct mapi_filter_code {
    uint16_t code;
    uint8_t jt;
    uint8_t jf;
    uint32_t k;
};

struct mapi_argument {
    /* kind 's', 'n', 'p', 'w', 'W' and 'o'; for 'n' decimal digits if a number was given */
    const char *text;
    /*
     * Kind 'i', 'b', 'c', 'u', 'l', 'r' and 'f'.  For 'S', 'F' and 'W' the number of elements.
     * For 'w' and 'o' the open file or -1; the engine closes it after the instance is
     * destroyed.
     */
    int64_t number;
    char kind; /* 0: an optional argument that was left out */
    /* kind 'f': one, kind 'S': `number`; they live as long as the instance */
    const struct mapi_reference *const *references;
    /*
     * Kind 'F': for each of `number` flows, a word that mapi_flow_has_begun() reads; they live
     * as long as the instance.
     */
    const uint64_t *const *flows;
    /* kind 'W': `number` open files; the engine closes them after the instance is destroyed */
    const int *files;
};

/*
 * Whether the flow is connected and its device has started: the packets of the current batch then
 * belong to it as well, if both are on one device.  The engine updates the word before each burst,
 * so that all functions of a device see the same value; in create() no flow has begun yet.
 */
static inline int mapi_flow_has_begun(const uint64_t *flow)
{
    return __atomic_load_n(flow, __ATOMIC_ACQUIRE) != 0;
}

enum mapi_function_flags {
    /*
     * The verdict depends only on the packet and the arguments: flows with the same arguments
     * at the same place share one instance.
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
     * The following functions of the flow get other packets than this function: those of
     * next_batch().  process() returns 0.
     */
    MAPI_FUNCTION_TRANSFORMS = 1u << 5,
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
     * The instances of a node group may get different masks: group_process() gets the packets
     * of all of them, and a packet that it passes counts for an instance only if that
     * instance's own mask contains it.
     */
    MAPI_FUNCTION_GROUP_OF_ANY_MASKS = 1u << 11,
    /*
     * With MAPI_FUNCTION_RESULT_IN_PLACE: the memory of allocate_result() is private to the
     * function and written like any memory, on the device's thread; readers get a copy that is
     * consistent.  The copy is made after a burst that had packets for the function, but less
     * often the larger the result is, so that readers have time to read it; and also when no
     * packets arrive, at a reset, and at the end.  Cannot be combined with compose_result().
     */
    MAPI_FUNCTION_RESULT_COPIED = 1u << 12,
};

enum mapi_device_flags {
    /* the source waits for its readers: back-pressure loses no packets */
    MAPI_DEVICE_OFFLINE = 1u << 0,
    MAPI_DEVICE_PACKET_TYPES = 1u << 1, /* its packets have a packet_type, and filters of its driver
                                           may use the kernel's (SKF_AD_PKTTYPE) */
};

struct mapi_perf; /* results.h */

/*
 * An object that instances of one client's functions share.  The address of this struct identifies
 * its kind: it is static, and lives as long as the table.  Members are only appended.
 */
struct mapi_common_object {
    uint32_t struct_size; /* sizeof(struct mapi_common_object) */
    uint32_t reserved;
    /*
     * A client's thread, one at a time.  Neither waits nor requests common objects.  NULL: out
     * of memory.
     */
    void *(*create)(void);
    /* Any thread, once the object is no longer used. */
    void (*destroy)(void *object);
    uint64_t bytes; /* maximum size of the object */
};

/*
 * The parameters of create().  Everything pointed to except `result` is only valid during the call.
 */
struct mapi_function_setup {
    uint32_t struct_size;
    uint32_t argument_count;
    const struct mapi_argument *arguments; /* one per letter of the table's args */
    void *result; /* result_bytes of zeroed memory; process() writes, the engine publishes it after
                     each burst */
    uint32_t device_flags; /* enum mapi_device_flags */
    uint32_t snaplen;      /* of the device, 0 if unknown */
    uint16_t link_type;    /* of the device, or MAPI_LINK_UNKNOWN */
    uint16_t reserved;
    uint32_t error_bytes;
    char *error; /* create() may explain a refusal here */
    /*
     * With MAPI_FUNCTION_RESULT_IN_PLACE: returns zeroed memory that lives as long as the
     * instance, at most MAPI_RESULT_BYTES_MAX; NULL: out of memory.  Without a call there is no
     * result.
     */
    uint64_t *(*allocate_result)(const struct mapi_function_setup *setup, uint32_t bytes);
    /* Makes the engine run batches packet by packet on the flow's device while it is connected. */
    void (*take_single_packets)(const struct mapi_function_setup *setup);
    void *engine; /* private to the engine */
    /*
     * lives as long as the instance; a ring requires one of the two flags ..._IN_RING, or
     * compose_result()
     */
    const struct mapi_ring_calls *ring;
    /* of the network interface that the device reads; 0: not an interface */
    uint32_t interface_index;
    uint32_t reserved_more;
    const char *config; /* lines "key=value" of the section that the table names; NULL: none */
    /*
     * with MAPI_FUNCTION_METER_END: the measured values; lives as long as the instance, valid
     * during process()
     */
    const struct mapi_perf *meter;
    /* maximum bytes of each packet that copies for the client keep; 0: all */
    uint32_t snap_bytes;
    uint32_t reserved_last;
    /*
     * Only during create().  Counts the maximum memory that the instance could hold with its
     * tables full, except a few thousand bytes, its arguments and what the engine provides
     * through this struct.  Called before the memory is taken, or immediately afterwards if
     * only a library knows the size, and more than once if necessary.  0, or
     * MAPI_LIMIT_REACHED: the client's limit is exceeded, and create() fails with any number;
     * the engine reports the cause.
     */
    int (*reserve_memory)(const struct mapi_function_setup *setup, uint64_t bytes);
    /*
     * Only during create().  The object is created for the first of the client's instances that
     * requests it, and lives as long as any of them and the client.  NULL: create() must fail.
     */
    void *(*common_object)(const struct mapi_function_setup *setup,
                           const struct mapi_common_object *kind);
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

/* Input of compose_result(). */
struct mapi_reading {
    /* memory of allocate_result(), which may change: read it with mapi_result_get() */
    const uint64_t *in_place;
    /* kept_words of the table; zeros at first, then as the last call left them */
    uint64_t *kept;
    uint64_t result_bytes;
    /*
     * Returns the oldest record of the ring that no call has had, and its length; it stays
     * valid until compose_result() returns.  NULL: there is none now.
     */
    const void *(*next_record)(struct mapi_reading *reading, uint32_t *bytes);
    void *engine; /* private to the engine */
};

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
};

enum mapi_config_verdict {
    MAPI_CONFIG_LINE_GOOD,
    MAPI_CONFIG_LINE_WITHOUT_EFFECT, /* known, but without effect here */
    MAPI_CONFIG_LINE_WRONG,          /* create() will refuse it */
};

/* Packets that one of several instances passed. */
struct mapi_group_passed {
    uint64_t mask;
    uint32_t instance; /* its index in the list that group_create() got */
    uint32_t reserved;
};

struct mapi_function {
    uint32_t abi;         /* MAPI_FUNCTION_ABI */
    uint32_t struct_size; /* sizeof(struct mapi_function) */
    const char *name;
    const char *description;
    /*
     * One letter per argument:
     *   s string                     n string or number
     *   i int                        l 64-bit number
     *   b 0 or 1; checked before functions are looked up and files opened
     *   c character                  p path, as seen from "/"
     *   r flow                       f function of the flow before it
     *   F flows, as "fd,fd"          S functions, as "fid@fd,fid@fd"
     *   w file to write: open, with its previous contents; create() empties it once it can no
     * longer fail
     *   W rotation of the file of the preceding w, as "size=BYTES,time=SECONDS,files=COUNT":
     * the w is the first file, this argument has the others
     *   o destination of messages: "SHMEM", "host:port", or otherwise a file as with w
     *   u the caller's user, which is not given by the caller
     * Arguments after '?' are optional.  Those after "??" are also omitted for a caller without
     * a prototype, which cannot pass the number of its arguments.
     */
    const char *args;
    uint32_t flags;        /* enum mapi_function_flags */
    uint32_t result_bytes; /* at most MAPI_RESULT_BYTES_MAX; 0: none, or one in place */

    /* Client's thread, when the function is applied.  0, or an error number of errors.h. */
    int (*create)(const struct mapi_function_setup *setup, void **instance);
    /*
     * Device's thread.  Never called with an empty mask, except with MAPI_FUNCTION_EVERY_BATCH;
     * returns a subset of mask.
     */
    uint64_t (*process)(void *instance, const struct mapi_batch *batch, uint64_t mask);
    /* Any thread, once the instance is no longer used. */
    void (*destroy)(void *instance);

    /* All members below may be NULL. */
    /*
     * Any thread, once: no more packets will arrive, because the source has ended or the flow
     * is closed.  Does not wait.
     */
    void (*end)(void *instance);
    /*
     * Any thread, after end(): whether the work that end() started is done; NULL: it is.  The
     * flow lasts until then.
     */
    int (*is_settled)(void *instance);
    /* Any thread: the flow is being closed; threads that wait in the instance must return. */
    void (*cancel)(void *instance);
    /* Any thread. */
    void (*drops)(const void *instance, struct mapi_function_drops *drops);
    /*
     * Device's thread, after process() with the same batch and mask, if another function refers
     * to this one: stores the result's first word as it was after packet i in values[i].
     * Returns the packets of mask for which it did so.  NULL: the value after the batch's last
     * packet stands for all.
     */
    uint64_t (*values)(const void *instance, const struct mapi_batch *batch, uint64_t mask,
                       uint64_t *values);
    /*
     * Required with MAPI_FUNCTION_TRANSFORMS.  Device's thread, after process() and after
     * flush(), until it returns 0: returns 1 and sets `batch` to created packets.  The batch
     * may point to the batch that process() got last, and stays valid until the next call for
     * this instance.
     */
    int (*next_batch)(void *instance, struct mapi_batch *batch);
    /* Device's thread: no more packets will arrive; next_batch() returns what was held back. */
    void (*flush)(void *instance);
    /*
     * Device's thread: a live device has no packet, and no packet with a time stamp before
     * now_ns will arrive.  next_batch() is called afterwards, as after process().
     */
    void (*tick)(void *instance, uint64_t now_ns);
    /*
     * Any thread, for a filter: a classic BPF program that accepts at least the packets that
     * pass; its instructions live as long as the instance.  Returns their number; 0: there is
     * no program for this link type.
     */
    uint32_t (*classic_bpf)(const void *instance, uint16_t link_type,
                            const struct mapi_filter_code **code);
    /*
     * Any thread, with MAPI_FUNCTION_RESULT_IN_PLACE: stores a consistent copy of the result in
     * `result`, which has room for its bytes as whole words.  NULL: its words are read in
     * place.  Only in a program that captures by itself: mapid, whose clients read results
     * without a request, does not apply such a function.
     */
    void (*read_result)(void *instance, void *result);
    const char *config_section; /* of mapi.conf, for create() */
    /*
     * For a function with MAPI_FUNCTION_PURE, all three or none: creates a node group, several
     * instances that get the same mask and run at once; see also
     * MAPI_FUNCTION_GROUP_OF_ANY_MASKS.  A client's thread, while process() of any of them may
     * be running.  0, or another number: running them one by one is as good.  The instances
     * outlive the group.
     */
    int (*group_create)(void *const *instances, uint32_t count, void **group);
    /*
     * Device's thread, instead of process() of each instance: stores which instances passed
     * which packets, each instance at most once and never with an empty mask.  `passed` has
     * room for all.  Returns the number of entries.
     */
    uint32_t (*group_process)(void *group, const struct mapi_batch *batch, uint64_t mask,
                              struct mapi_group_passed *passed);
    /* Any thread, once the node group is no longer used. */
    void (*group_destroy)(void *group);
    /*
     * Device's thread, between two bursts; for a function that is neither PURE nor ADDITIVE:
     * restores the result and all state to what it was after create().  NULL: the function
     * cannot be reset.
     */
    void (*reset)(void *instance);
    /*
     * Any thread, when mapi.conf is read: returns a value of enum mapi_config_verdict for a
     * line of config_section, and the reason in `text`.  NULL: only create() checks the lines.
     */
    int (*check_config)(const char *key, const char *value, char *text, uint32_t text_bytes);
    /*
     * Maximum length of each text from a client of mapid, if create() takes long for longer
     * ones; 0: no limit.
     */
    uint32_t text_bytes_max;
    uint32_t kept_words; /* of struct mapi_reading */
    /*
     * With MAPI_FUNCTION_RESULT_IN_PLACE, for a function whose create() makes a ring: stores
     * the result in `result`, which is zeroed and as long as the memory in place, in whole
     * words.  A reader's thread, one at a time for each instance.  It knows nothing else of the
     * instance, since it may be in another process.  It does not wait.  NULL: the result is the
     * memory in place.  Like read_result(), it is unsupported through mapid for a plug-in.
     */
    void (*compose_result)(struct mapi_reading *reading, void *result);
    /*
     * For a function with MAPI_FUNCTION_PURE and without a result.  Any thread, one at a time
     * for each instance, while process() may be running and until end() is called: returns 1
     * and sets `passed` to what process() would return for all packets of the batch, for which
     * process() is then not called; 0: process() must be called.  It does not change the
     * instance and throws no exception.
     */
    int (*prefilter)(const void *instance, const struct mapi_batch *batch, uint64_t *passed);
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_FUNCTION_H */
