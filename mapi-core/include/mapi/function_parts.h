/* SPDX-License-Identifier: MIT */
/*
 * Optional parts of a function table, for functions that do more than count and filter.  Each
 * begins with its own size: members are only appended.
 */
#ifndef MAPI_FUNCTION_PARTS_H
#define MAPI_FUNCTION_PARTS_H

#include <stdint.h>

#include "batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The end of a flow, for a function that holds something back, writes or waits. */
struct mapi_function_ending {
    uint32_t struct_size; /* sizeof(struct mapi_function_ending) */
    /*
     * Any thread, once: no more packets will arrive, because the source has ended or the flow
     * is closed.  Does not wait.  NULL: nothing to do.
     */
    void (*end)(void *instance);
    /*
     * Any thread, after end(): whether the work that end() started is done; NULL: it is.  The
     * flow lasts until then.
     */
    int (*is_settled)(void *instance);
    /*
     * Any thread: the flow is being closed; threads that wait in the instance must return.
     * NULL: none waits.
     */
    void (*cancel)(void *instance);
};

/* Input of compose(). */
struct mapi_reading {
    /* memory of allocate_result(), which may change: read it with mapi_result_get() */
    const uint64_t *in_place;
    /* kept_words of the part; zeros at first, then as the last call left them */
    uint64_t *kept;
    uint64_t result_bytes;
    /*
     * Returns the oldest record of the ring that no call has had, and its length; it stays
     * valid until compose() returns.  NULL: there is none now.
     */
    const void *(*next_record)(struct mapi_reading *reading, uint32_t *bytes);
    void *engine; /* private to the engine */
};

/* Reading of a result other than copying its words after a burst. */
struct mapi_function_result {
    uint32_t struct_size; /* sizeof(struct mapi_function_result) */
    uint32_t kept_words;  /* of struct mapi_reading */
    /*
     * Device's thread, after process() with the same batch and mask (with
     * MAPI_FUNCTION_EVERY_BATCH: all packets of the batch), if another function refers to this
     * one: stores the result's first word as it was after packet i in values[i].
     * Returns the packets of mask for which it did so.  NULL: the value after the batch's last
     * packet stands for all.
     */
    uint64_t (*values)(const void *instance, const struct mapi_batch *batch, uint64_t mask,
                       uint64_t *values);
    /*
     * Any thread, with MAPI_FUNCTION_RESULT_IN_PLACE: stores a consistent copy of the result in
     * `result`, which has room for its bytes as whole words.  NULL: its words are read in
     * place.  Only in a program that captures by itself: mapid, whose clients read results
     * without a request, does not apply such a function.
     */
    void (*read)(void *instance, void *result);
    /*
     * With MAPI_FUNCTION_RESULT_IN_PLACE, for a function whose create() makes a ring: stores
     * the result in `result`, which is zeroed and as long as the memory in place, in whole
     * words.  A reader's thread, one at a time for each instance.  It knows nothing else of the
     * instance, since it may be in another process.  It does not wait.  NULL: the result is the
     * memory in place.  Like read(), it is unsupported through mapid for a plug-in.
     */
    void (*compose)(struct mapi_reading *reading, void *result);
};

/* The following functions of the flow get other packets than this one; process() returns 0. */
struct mapi_function_transform {
    uint32_t struct_size; /* sizeof(struct mapi_function_transform) */
    /*
     * Required.  Device's thread, after tick(), flush() and process() that had a packet, until
     * it returns 0:
     * returns 1 and sets `batch` to created packets.  The batch may point to the batch that
     * process() got last, and stays valid until the next call for this instance.
     */
    int (*next_batch)(void *instance, struct mapi_batch *batch);
    /*
     * Device's thread: no more packets will arrive; next_batch() returns what was held back.
     * NULL: nothing is held back.
     */
    void (*flush)(void *instance);
};

/* A filter that can run elsewhere: in the kernel, or on a driver's thread. */
struct mapi_function_filter {
    uint32_t struct_size; /* sizeof(struct mapi_function_filter) */
    /*
     * Any thread: a classic BPF program that accepts at least the packets that pass; its
     * instructions live as long as the instance.  Returns their number; 0: there is no program
     * for this link type.  NULL: there is none.
     */
    uint32_t (*classic_bpf)(const void *instance, uint16_t link_type,
                            const struct mapi_filter_code **code);
    /*
     * For a function with MAPI_FUNCTION_PURE and without a result.  Any thread, one at a time
     * for each instance, while process() may be running and until end() is called: returns 1
     * and sets `passed` to what process() would return for all packets of the batch, for which
     * process() is then not called; 0: process() must be called.  It does not change the
     * instance and throws no exception.  NULL: process() is always called.
     */
    int (*prefilter)(const void *instance, const struct mapi_batch *batch, uint64_t *passed);
};

/* What a function does with each packet, for a driver that can do it before packets are read. */
enum mapi_offload_kind {
    /* all packets pass; the result follows from their number and their wire bytes */
    MAPI_OFFLOAD_COUNT = 1,
    /* those packets pass for which the classic BPF program does not return 0 */
    MAPI_OFFLOAD_FILTER = 2,
    /* those packets pass that contain one of several texts */
    MAPI_OFFLOAD_SEARCH = 3,
    /*
     * packets number n, 2n, 3n ... of those that the function gets pass, n being `period`; or,
     * if that is 0, each with a probability of `threshold` / 2^32
     */
    MAPI_OFFLOAD_SAMPLE = 4,
    /* all packets pass; the result follows from the last one's time and wire length */
    MAPI_OFFLOAD_LAST = 5,
    /*
     * those TCP and UDP packets pass whose flow, by the XXH3 hash of HASHSAMP, is in one of the
     * first `parts` of 1,024 parts
     */
    MAPI_OFFLOAD_FLOW_HASH = 6,
};

struct mapi_search_text {
    const uint8_t *bytes; /* in lower case if case is ignored */
    uint32_t count;
};

/* Lives as long as the instance. */
struct mapi_search {
    const struct mapi_search_text *texts;
    uint32_t text_count;
    uint32_t
        offset_bytes; /* from the first byte of the frame, where a text begins at the earliest */
    uint32_t depth_bytes;  /* it ends at offset + depth at the latest; 0: at the end of the bytes */
    uint32_t ignores_case; /* of ASCII letters */
};

struct mapi_offload_step {
    uint32_t kind; /* enum mapi_offload_kind */
    uint32_t
        code_count; /* instructions of a filter's program, which lives as long as the instance */
    const struct mapi_filter_code *code;
    const struct mapi_search *search; /* of a search */
    uint64_t period;                  /* of a sample */
    uint64_t threshold;               /* likewise, at most 2^32 */
    uint32_t parts;                   /* of flows, by their hash */
    /* if describe() returns 0: why only process() can do that, a string that is never freed; NULL:
     * nothing special */
    const char *reason;
    /* likewise: process() reads at most so many bytes of each packet; 0: any number */
    uint32_t bytes_read;
};

/* What a driver knows about the packets of an instance, other than their number. */
struct mapi_offload_state {
    /* with MAPI_OFFLOAD_LAST: of the last packet */
    uint64_t last_time_ns; /* as its time stamp */
    uint64_t last_wire_bytes;
    /* with MAPI_OFFLOAD_SAMPLE and a period: packets that it got since it began or was reset */
    uint64_t received;
};

/* A function that a driver may run in its place (mapi_driver_offload in driver.h). */
struct mapi_function_offload {
    uint32_t struct_size; /* sizeof(struct mapi_function_offload) */
    /*
     * Any thread: fills in `step`, which is zeroed, and returns 1; 0 if only process() can do that
     * with packets of this link type.  The step is exactly what process() does.  Also called
     * for a function that runs in the engine anyway.
     */
    int (*describe)(const void *instance, uint16_t link_type, struct mapi_offload_step *step);
    /*
     * Device's thread: these packets have passed, without process().  NULL: the function has no
     * result.
     */
    void (*add)(void *instance, uint64_t packets, uint64_t wire_bytes);
    /*
     * Device's thread, with MAPI_OFFLOAD_LAST or MAPI_OFFLOAD_SAMPLE: the state has become this
     * one, without process(), which may be called for later packets.  NULL: it does not matter.
     */
    void (*follow)(void *instance, const struct mapi_offload_state *state);
};

/* Packets that one of several instances passed. */
struct mapi_group_passed {
    uint64_t mask;
    uint32_t instance; /* its index in the list that create() got */
};

/* Packets of a batch, and the instances that get them: each instance is in at most one input. */
struct mapi_group_input {
    uint64_t mask;             /* not empty */
    const uint32_t *instances; /* their indices in the list that create() got */
    uint32_t count;
    uint32_t number; /* of the input, below mapi_group_inputs.numbers */
};

struct mapi_group_inputs {
    const struct mapi_group_input *inputs; /* those that have packets in this batch */
    uint32_t count;
    uint32_t numbers;
    /* as long as this is the same, so are the instances of the input with the same number */
    uint64_t plan;
};

/*
 * A node group: several instances of a function with MAPI_FUNCTION_PURE that get the same mask and
 * run at once; see also MAPI_FUNCTION_GROUP_OF_ANY_MASKS.  All members are required.
 */
struct mapi_function_group {
    uint32_t struct_size; /* sizeof(struct mapi_function_group) */
    /*
     * Any thread, one at a time for each device, while process() of any of the instances may be
     * running.  0, or another
     * number: running them one by one is as good.  The instances outlive the group.
     */
    int (*create)(void *const *instances, uint32_t count, void **group);
    /*
     * Device's thread, instead of process() of each instance: stores which instances passed
     * which packets, each instance at most once and never with an empty mask.  `passed` has
     * room for all.  Returns the number of entries.
     */
    uint32_t (*process)(void *group, const struct mapi_batch *batch, uint64_t mask,
                        struct mapi_group_passed *passed);
    /* Any thread, once the node group is no longer used. */
    void (*destroy)(void *group);
    /*
     * Only of a function without a result; NULL, or any thread, also while process() is
     * running: stores the packets of the batch that any instance may let pass; process() then
     * gets only these.  Returns 0 if only process() can determine them.
     */
    int (*prefilter)(const void *group, const struct mapi_batch *batch, uint64_t *possible);
    /*
     * Of a function with MAPI_FUNCTION_GROUP_OF_ANY_MASKS; NULL, or what is called instead of
     * process(), which is still required, if knowing which instances get which packets saves work.
     * Packets stored for an instance that does not get them are left out.
     */
    uint32_t (*process_inputs)(void *group, const struct mapi_batch *batch,
                               const struct mapi_group_inputs *inputs,
                               struct mapi_group_passed *passed);
};

enum mapi_config_verdict {
    MAPI_CONFIG_LINE_GOOD,
    MAPI_CONFIG_LINE_WITHOUT_EFFECT, /* known, but without effect here */
    MAPI_CONFIG_LINE_WRONG,          /* create() will refuse it */
};

/* Settings in mapi.conf. */
struct mapi_function_config {
    uint32_t struct_size; /* sizeof(struct mapi_function_config) */
    const char *section;  /* required; of mapi.conf: its lines are setup->config */
    /*
     * Any thread, when mapi.conf is read: returns a value of enum mapi_config_verdict for a
     * line of the section, and the reason in `text`.  NULL: only create() checks the lines.
     */
    int (*check_line)(const char *key, const char *value, char *text, uint32_t text_bytes);
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_FUNCTION_PARTS_H */
