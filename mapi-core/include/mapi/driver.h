/* SPDX-License-Identifier: MIT */
/*
 * The driver table: what a source of packets must provide.  Source in, batches of packet views out.
 * A complete driver, whose devices have one packet; it needs <stdlib.h> and <mapi/errors.h>:
 *
 *     static int open_one(const struct mapi_driver_setup *setup, void **instance,
 *                         struct mapi_driver_info *info)
 *     {
 *         info->device_flags = MAPI_DEVICE_OFFLINE;
 *         info->link_type = 1;
 *         return (*instance = calloc(1, sizeof(int))) ? 0 : MAPID_MEM_ALLOCATION_ERROR;
 *     }
 *     static int read_one(void *instance, struct mapi_packet *packets, uint32_t limit,
 *                         struct mapi_batch *batch)
 *     {
 *         static const uint8_t frame[60] = {0};
 *         uint32_t count = (*(int *)instance)++ == 0;
 *         packets[0] = (struct mapi_packet){.data = frame, .caplen = 60, .wire_len = 60,
 *                                           .link_type = 1};
 *         mapi_batch_fill(batch, packets, count);
 *         return (int)count;
 *     }
 *     static const struct mapi_driver one = {
 *         .abi = MAPI_DRIVER_ABI, .struct_size = sizeof(one),
 *         .name = "one", .description = "has one packet",
 *         .open = open_one, .read = read_one, .close = free,
 *     };
 *
 * mapi-core/apps/examples/plugin.c in the source tree has a driver that makes packets.
 */
#ifndef MAPI_DRIVER_H
#define MAPI_DRIVER_H

#include <stdint.h>

#include "batch.h"
#include "driver_cost.h"
#include "function_parts.h"
#include "packet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members are only appended within a version; struct_size is the size that a table has. */
#define MAPI_DRIVER_ABI 2

/* Returned immediately by read() of a live source that has no packet. */
#define MAPI_DRIVER_IDLE (-2)

/* A numeric option of the driver's devices, set by this key in their section of mapi.conf. */
struct mapi_driver_option {
    const char *key;   /* NULL ends the table's list */
    uint64_t standard; /* value if it is not set */
    uint64_t least;
    uint64_t most;
};

/*
 * Memory that is counted for the client that opened the device; any thread.  Members are only
 * appended.
 */
struct mapi_memory {
    uint32_t struct_size; /* sizeof(struct mapi_memory) */
    /*
     * Called before memory is taken, or immediately afterwards if only a library knows the
     * size.  Returns 0, or MAPI_LIMIT_REACHED with nothing counted: then open() fails with that
     * number, and read() with -1.
     */
    int (*take)(const struct mapi_memory *memory, uint64_t bytes);
    void (*give_back)(const struct mapi_memory *memory, uint64_t bytes);
    const char *name; /* of the limit, for messages */
};

struct mapi_driver_setup {
    uint32_t struct_size;
    uint32_t error_bytes;
    const char *path;        /* file or interface */
    uint64_t repeat;         /* times to read a file; 0: forever */
    char *error;             /* open() explains a refusal here: object, cause, remedy */
    const uint64_t *options; /* one value for each option of the table */
    /* `file` is a descriptor to read instead of path; the driver makes its own copy */
    int has_file;
    int file;
    const struct mapi_memory *memory; /* outlives the instance; NULL: memory is not counted */
};

struct mapi_driver_info {
    uint32_t device_flags; /* enum mapi_device_flags */
    uint32_t snaplen;
    uint16_t link_type;       /* or MAPI_LINK_UNKNOWN */
    uint32_t interface_index; /* of the network interface that is read; 0: not an interface */
    /* for a live source: maximum delay between a packet's time stamp and its delivery */
    uint64_t delay_ns;
};

/* Counters of the driver, copied by value; any thread may request them. */
struct mapi_driver_stats {
    uint64_t bad_records;
    uint64_t truncated_records;
    uint64_t interface_drops;
    uint64_t unread_bytes;
    /* packets that the kernel lost: it had no room for them, or one of the two below */
    uint64_t kernel_drops;
    /*
     * why reading stopped before the end of the source, or what is wrong with it; empty if
     * nothing is
     */
    char message[512];
    uint64_t unreadable_packets; /* whose bytes the kernel could not copy */
    uint64_t late_packets;       /* of a program, after those of the next program */
    uint64_t undecided_packets;  /* with bits in mapi_offloaded.undecided */
    char remark[512];            /* what is unusual but no fault; else empty */
};

/* Maximum number of functions that a prefilter runs. */
#define MAPI_PREFILTERED_MAX 8

/* Result of a prefilter for a batch; for the engine only.  Valid as long as the batch. */
struct mapi_prefiltered {
    uint64_t number; /* by which the engine recognizes its own results */
    uint64_t known;  /* bit i: passed[i] is valid */
    uint64_t passed[MAPI_PREFILTERED_MAX];
};

/*
 * Functions that the engine would run on each batch.  A driver can run them on its own thread
 * before it hands the batch out.
 */
struct mapi_prefilter {
    uint32_t struct_size; /* sizeof(struct mapi_prefilter) */
    /*
     * no function reads the bytes of packets that none of them passes: they need not be in this
     * processor's cache
     */
    uint32_t reads_passed_only;
    /*
     * Any thread, one at a time.  The batch is complete and contains, in order, the packets
     * that will be handed out with the result.
     */
    void (*run)(const struct mapi_prefilter *prefilter, const struct mapi_batch *batch,
                struct mapi_prefiltered *result);
    void *engine; /* private to the engine */
};

/*
 * Optional parts of a driver table.  Each begins with its own size: members are only appended.
 */

/* A source whose packets arrive as time passes. */
struct mapi_driver_live {
    uint32_t struct_size; /* sizeof(struct mapi_driver_live) */
    /*
     * Client's thread, once, before the first read(): packets that arrive from now on are to be
     * read.  Returns 0, or an error number like open().  NULL: nothing to do.
     */
    int (*start)(void *instance, char *error, uint32_t error_bytes);
    /*
     * Required.  Device's thread, after read() has returned MAPI_DRIVER_IDLE: returns 1 as soon
     * as there may be a packet, or 0 if none arrived for about 10 ms.
     */
    int (*wait)(void *instance);
};

/* A source that is a file. */
struct mapi_driver_file {
    uint32_t struct_size; /* sizeof(struct mapi_driver_file) */
    /*
     * Client's thread, before the first read(): adds another file of the same format.  Only
     * path, error, error_bytes, has_file and file of the setup are valid.  Returns 0, or an
     * error number like open().  NULL: the driver reads one file.
     */
    int (*append)(void *instance, const struct mapi_driver_setup *setup);
};

/* Filters that run before packets are handed out. */
struct mapi_driver_filter {
    uint32_t struct_size; /* sizeof(struct mapi_driver_filter) */
    /*
     * Any thread: packets for which this filter returns 0 need not be read any more; count 0:
     * all packets are needed.  The filter is written for the packets that read() returns.
     * Returns whether the filter is in effect.  The caller keeps the code until the next call.
     * NULL: the source does not filter.
     */
    int (*set_filter)(void *instance, const struct mapi_filter_code *code, uint32_t count);
    /*
     * Any thread: sets the prefilter, which stays valid until the next call; NULL removes it,
     * as the engine does before close().  When the call returns, the previous prefilter is no
     * longer running.  A batch that the driver fills on its own thread may carry the result in
     * `prefiltered`; others have NULL there.  NULL: the driver runs no functions.
     */
    void (*set_prefilter)(void *instance, const struct mapi_prefilter *prefilter);
};

/* The source of nodes that get all packets. */
#define MAPI_OFFLOAD_ALL 0xffffffffu

/* All bytes of a packet. */
#define MAPI_OFFLOAD_WHOLE 0xffffffffu

/* A function with its arguments at one place, for a driver to run. */
struct mapi_offload_node {
    struct mapi_offload_step step; /* function_parts.h */
    uint32_t source;               /* an earlier node, whose packets it gets, or MAPI_OFFLOAD_ALL */
    /* functions after it run in the engine: the packets that it passes must be read */
    uint32_t wants_packets;
    /* set by prepare(): whether the driver runs it, and if not, why: a string that is never freed
     */
    uint32_t is_taken;
    const char *reason;
    /*
     * what MAPI_OFFLOAD_SAMPLE has counted: a node with the same number in a later program
     * continues to count, and one with a new number begins at 0 when its program becomes active
     */
    uint64_t state;
    /* bytes of these packets that must be read; 0 or MAPI_OFFLOAD_WHOLE: all */
    uint32_t wants_bytes;
};

/* Packets that a node has passed since its program became active. */
struct mapi_offload_count {
    uint64_t packets;
    uint64_t wire_bytes;
    struct mapi_offload_state state; /* zeros if it has none, or no packet came yet */
};

/* Verdicts on the packets of a batch. */
struct mapi_offloaded {
    const uint64_t *passed; /* for each node of the program with wants_packets: its packets */
    /*
     * For each node: packets on which the driver could not decide.  The engine runs the node on
     * them, and the nodes after it on those that pass; the driver has not counted them there.
     * NULL: there are none.
     */
    const uint64_t *undecided;
};

/*
 * Functions that run before packets are read, such as on an adapter: a program of nodes.  There is
 * one program at a time; only packets that some node passes and wants are read.  The source has one
 * interface: ifindex of its packets is 0.
 */
struct mapi_driver_offload {
    uint32_t struct_size; /* sizeof(struct mapi_driver_offload) */
    const char *place;    /* required: where the functions run, in one word: "kernel" */
    /*
     * Any thread, one at a time: makes a program of the nodes that the driver can run, and sets
     * is_taken in each.  A node whose source is not taken is not taken.  all_bytes: so many
     * bytes of all packets must be read; 0: not all packets must be read.  The nodes, and what
     * they point to, stay valid until destroy().  If a program is refused, or memory is short,
     * fewer nodes are taken, or none.  Never NULL.
     */
    void *(*prepare)(void *instance, struct mapi_offload_node *nodes, uint32_t count,
                     uint32_t all_bytes);
    /* Any thread, before close(): for a program that is not active, or once reading has ended. */
    void (*destroy)(void *instance, void *program);
    /*
     * Device's thread: packets that arrive from now on go through this program; each packet goes
     * through one, and none is lost.  read() first returns the remaining packets of the previous
     * program, whose counts no longer change.  NULL: no packet goes through a program any more,
     * and none is read.
     */
    void (*activate)(void *instance, void *program);
    /* Device's thread, after read() returned MAPI_DRIVER_IDLE: whether only packets of the active
     * program follow. */
    int (*has_switched)(void *instance);
    /*
     * Device's thread: counts of an active or previous program, one for each node that was taken
     * and a last one for all packets; others are not set.
     */
    void (*count)(void *instance, void *program, struct mapi_offload_count *counts);
    /*
     * Any thread, one at a time, while the instance is open: measures what the active program
     * costs a packet, for about cost->duration_ms and a few seconds.  The program's counts are
     * those without the call.  Returns 0, or an error number like open().  NULL: the cost cannot
     * be measured.
     */
    int (*cost)(void *instance, struct mapi_driver_cost *cost, char *error, uint32_t error_bytes);
};

struct mapi_driver {
    uint32_t abi;         /* MAPI_DRIVER_ABI */
    uint32_t struct_size; /* sizeof(struct mapi_driver) */
    const char *name;
    const char *description;

    /* The next three are required, as are name and description. */
    /* Client's thread.  `info` is zeroed.  Returns 0, or an error number of errors.h. */
    int (*open)(const struct mapi_driver_setup *setup, void **instance,
                struct mapi_driver_info *info);
    /*
     * Device's thread: fills in at most `limit` packets and the fields of the batch, whose
     * packets may also be in the driver's own memory.  Returns their number, 0 at the end of
     * the source, -1 on an error that ends it, or MAPI_DRIVER_IDLE if the driver is live.  What
     * the batch points to stays valid until the next read() or close().
     */
    int (*read)(void *instance, struct mapi_packet *packets, uint32_t limit,
                struct mapi_batch *batch);
    void (*close)(void *instance);

    /* All members below may be NULL. */
    /* Any thread: fills in `stats`, which is zeroed. */
    void (*stats)(void *instance, struct mapi_driver_stats *stats);
    /* Any thread: makes a waiting read() or wait() return 0 soon.  NULL if they never wait. */
    void (*interrupt)(void *instance);
    /*
     * Device's thread, after a read() or read_more() that returned MAPI_BATCH_MAX packets: like
     * read(), for packets that are already available; it neither waits nor fails.  What was
     * returned since the last read() stays valid as well.  0: read() must be called for more
     * packets, or to find out why there are none.  NULL: each batch is read by itself.
     */
    int (*read_more)(void *instance, struct mapi_packet *packets, uint32_t limit,
                     struct mapi_batch *batch);
    const struct mapi_driver_option *options;
    const struct mapi_driver_live *live;
    const struct mapi_driver_file *file;
    const struct mapi_driver_filter *filter;
    const struct mapi_driver_offload *offload;
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_DRIVER_H */
