/* SPDX-License-Identifier: MIT */
/* The driver table: what a source of packets must provide.  Source in, batches of packet views out. */
#ifndef MAPI_DRIVER_H
#define MAPI_DRIVER_H

#include <stdint.h>

#include "function.h"
#include "packet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members are only appended within a version; struct_size says how many a table has. */
#define MAPI_DRIVER_ABI 1

/* What read() of a live source returns, at once, while there is no packet. */
#define MAPI_DRIVER_IDLE (-2)

/* A number that a device of this driver may set, by this key in its section of mapi.conf. */
struct mapi_driver_option {
	const char *key;
	uint64_t standard; /* what it is when it is not set */
	uint64_t least;
	uint64_t most;
};

/* Memory that is counted for whoever opened the device; any thread.  Members are only appended. */
struct mapi_memory {
	uint32_t struct_size; /* sizeof(struct mapi_memory) */
	uint32_t reserved;
	/* Before it is taken, or at once after where a library alone knows.  0, or MAPI_LIMIT_REACHED and nothing is counted: open() fails with that, read() with -1. */
	int (*take)(const struct mapi_memory *memory, uint64_t bytes);
	void (*give_back)(const struct mapi_memory *memory, uint64_t bytes);
	const char *name; /* of the limit, for messages */
};

struct mapi_driver_setup {
	uint32_t struct_size;
	uint32_t error_bytes;
	const char *path;    /* file or interface */
	uint64_t repeat;     /* times to read a file; 0 = for ever */
	char *error;         /* open() explains a refusal here: what, where, remedy */
	const uint64_t *options; /* one for each of the table's */
	int has_file;            /* `file` is a descriptor to read in place of path; the driver makes its own copy */
	int file;
	const struct mapi_memory *memory; /* outlives the instance; NULL: nobody counts */
};

struct mapi_driver_info {
	uint32_t device_flags; /* enum mapi_device_flags */
	uint32_t snaplen;
	uint16_t link_type; /* or MAPI_LINK_UNKNOWN */
	uint16_t reserved[3];
	uint64_t delay_ns; /* of a live source: a packet may be handed out so long after its time stamp */
	uint32_t interface_index; /* of the network interface that is read; 0: it is none */
	uint32_t reserved_more;
};

/* Counters of the driver; plain values copied out, safe to ask for from any thread. */
struct mapi_driver_stats {
	uint64_t bad_records;
	uint64_t truncated_records;
	uint64_t interface_drops;
	uint64_t unread_bytes;
	uint64_t kernel_drops; /* packets that came while the kernel had no room for them */
	char message[512]; /* why reading stopped before the end of the source, or what is odd in it; empty when nothing is wrong */
};

/* Functions that a prefilter runs, at most. */
#define MAPI_PREFILTERED_MAX 8

/* What a prefilter found of a batch: for the engine alone.  It is valid as long as the batch. */
struct mapi_prefiltered {
	uint64_t number; /* by which the engine knows its own */
	uint64_t known;  /* bit i: passed[i] is valid */
	uint64_t passed[MAPI_PREFILTERED_MAX];
};

/* Functions that the engine would run on each batch, for a driver to run them on a thread of its own before it hands the batch out. */
struct mapi_prefilter {
	uint32_t struct_size; /* sizeof(struct mapi_prefilter) */
	uint32_t reads_passed_only; /* no function reads the bytes of packets that none of them lets pass: they need not be in this processor's cache */
	/* Any thread, one at a time.  The batch is complete, and has the packets that will be handed out with the result, in their order. */
	void (*run)(const struct mapi_prefilter *prefilter, const struct mapi_batch *batch, struct mapi_prefiltered *result);
	void *engine; /* its own */
};

struct mapi_driver {
	uint32_t abi;         /* MAPI_DRIVER_ABI */
	uint32_t struct_size; /* sizeof(struct mapi_driver) */
	const char *name;
	const char *description;

	/* Client's thread.  0, or an error number of errors.h. */
	int (*open)(const struct mapi_driver_setup *setup, void **instance, struct mapi_driver_info *info);
	/*
	 * Device's thread: fills at most `limit` packets and the fields of the batch, whose packets may also lie in the driver's own memory.  Returns their number, 0 at the end of the source, -1 at an
	 * error that ends it, or MAPI_DRIVER_IDLE.  What the batch points to stays valid until the next read() or close().
	 */
	int (*read)(void *instance, struct mapi_packet *packets, uint32_t limit, struct mapi_batch *batch);
	/* Any thread. */
	void (*stats)(void *instance, struct mapi_driver_stats *stats);
	/* Any thread: a read() or wait() that waits must return 0 soon.  NULL when they never wait. */
	void (*interrupt)(void *instance);
	void (*close)(void *instance);

	/* All below may be NULL. */
	/* Client's thread, once, before the first read(): packets that come from now on are to be read.  0, or an error number, as open(). */
	int (*start)(void *instance, char *error, uint32_t error_bytes);
	/* It must be there when read() may return MAPI_DRIVER_IDLE.  Device's thread: 1 as soon as there may be a packet, or 0 when none came for some 10 ms. */
	int (*wait)(void *instance);
	const struct mapi_driver_option *options;
	uint32_t option_count;
	/*
	 * Any thread: packets for which this filter returns 0 need not be read any more; no instructions: all are wanted.  It is written for
	 * the packets that read() gives.  Returns whether it is in force.  The caller keeps the code until the next call.
	 */
	int (*set_filter)(void *instance, const struct mapi_filter_code *code, uint32_t count);
	/*
	 * Device's thread, after a read() or read_more() that gave MAPI_BATCH_MAX packets: as read(), of packets that are there already; it
	 * neither waits nor fails.  What was given since the last read() stays valid, too.  0: read() is to be called for more, or tells why
	 * there are none.  NULL: each batch is read by itself.
	 */
	int (*read_more)(void *instance, struct mapi_packet *packets, uint32_t limit, struct mapi_batch *batch);
	/*
	 * Client's thread, before the first read(): adds another file of the same format to a source that is a file.  Only path, error, has_file
	 * and file of the setup are valid.  0, or an error number, as open().  NULL: the driver reads one file.
	 */
	int (*append)(void *instance, const struct mapi_driver_setup *setup);
	/*
	 * Any thread: sets the prefilter, which stays valid until the next call; NULL removes it, as the engine does before close().  On return the
	 * previous prefilter is no longer running.  A batch that the driver makes on a thread of its own may carry the result as its `prefiltered`; others have NULL there.
	 */
	void (*set_prefilter)(void *instance, const struct mapi_prefilter *prefilter);
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_DRIVER_H */
