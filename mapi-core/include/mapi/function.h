/* SPDX-License-Identifier: MIT */
/* The function table: what a MAPI function must provide.  Mask of live packets in, mask of passed packets out. */
#ifndef MAPI_FUNCTION_H
#define MAPI_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#include "packet.h"
#include "ring.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Members are only appended within a version; struct_size says how many a table has. */
#define MAPI_FUNCTION_ABI 1

#define MAPI_RESULT_BYTES_MAX (6u << 20)

#define MAPI_LINK_MIXED 0xffff   /* the batch holds packets of several link types */
#define MAPI_LINK_UNKNOWN 0xfffe /* the device cannot tell before its first packet */

struct mapi_prefiltered; /* driver.h */

/* Up to MAPI_BATCH_MAX packets; bit i of a mask stands for packets[i].  Valid during the call that gets it. */
struct mapi_batch {
	const struct mapi_packet *packets;
	uint64_t all;        /* mask with one bit for each packet of the batch */
	uint64_t wire_bytes; /* sum of wire_len over the batch */
	uint32_t count;
	uint16_t link_type; /* of every packet, or MAPI_LINK_MIXED */
	uint16_t reserved;
	const struct mapi_prefiltered *prefiltered; /* from driver to engine (driver.h), or NULL; functions ignore it */
};

/*
 * Another function's result, which a function takes as an argument.  The engine keeps it up to date: it is right during
 * process() and values(), on the device's thread.
 */
struct mapi_reference {
	uint64_t before; /* the result's first word before this batch */
	uint64_t base;   /* what the referred flow does not count as its own: subtract it from `before` and from values */
	uint64_t mask;   /* packets of this batch that changed it; none when it is of another device */
	const uint64_t *values; /* its first word after packet i, for each bit i of mask */
	uint64_t has_before;    /* 0: no packet has given it a value yet */
	uint64_t is_count;      /* it only grows by what packets add; from create() on */
	/*
	 * The result whole, after this batch; NULL: there is none yet.  create() asks for single packets to have it after each, with
	 * setup->take_single_packets().
	 */
	const uint64_t *words;
	uint64_t bytes;         /* from create() on */
	uint64_t is_array;      /* it has no single value, words alone; from create() on */
};

/* Whether there is a value after packet i of the batch has passed the referred function, and which. */
static inline int mapi_reference_read(const struct mapi_reference *reference, uint32_t i, uint64_t *value)
{
	const uint64_t until = reference->mask & (~(uint64_t)0 >> (63 - i));

	*value = (until ? reference->values[63 - __builtin_clzll(until)] : reference->before) - reference->base;
	return until || reference->has_before;
}

/* The same before packet i came. */
static inline int mapi_reference_read_before(const struct mapi_reference *reference, uint32_t i, uint64_t *value)
{
	if (i > 0)
		return mapi_reference_read(reference, i - 1, value);
	*value = reference->before - reference->base;
	return reference->has_before != 0;
}

/* Fills in all of a batch that follows from its packets, at most MAPI_BATCH_MAX. */
static inline void mapi_batch_fill(struct mapi_batch *batch, const struct mapi_packet *packets, uint32_t count)
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

/* An instruction of a classic BPF program, as libpcap's struct bpf_insn. */
struct mapi_filter_code {
	uint16_t code;
	uint8_t jt;
	uint8_t jf;
	uint32_t k;
};

struct mapi_argument {
	const char *text; /* kind 's', 'n', 'p', 'w', 'W' and 'o'; of 'n' in decimal digits where a number was given */
	/*
	 * Kind 'i', 'b', 'c', 'u', 'l', 'r' and 'f'.  Of 'S', 'F' and 'W' the number of elements.  Of 'w' and 'o' the open file or -1; the engine
	 * closes it after the instance is destroyed.
	 */
	int64_t number;
	char kind;        /* 0: an optional argument that was left out */
	const struct mapi_reference *const *references; /* kind 'f' one, kind 'S' `number` of them; they live as long as the instance */
	/* Kind 'F': of each of `number` flows a word that mapi_flow_has_begun() reads; they live as long as the instance. */
	const uint64_t *const *flows;
	const int *files; /* Kind 'W': `number` open files; the engine closes them after the instance is destroyed */
};

/*
 * Whether the flow is connected and its device at work: the packets of the batch that is run are its own, too, when both are of one device.
 * The engine looks at it before each burst, so that all functions of a device see the same; in create() it is none yet.
 */
static inline int mapi_flow_has_begun(const uint64_t *flow)
{
	return __atomic_load_n(flow, __ATOMIC_ACQUIRE) != 0;
}

enum mapi_function_flags {
	/* The verdict depends on the packet and the arguments alone: flows with the same arguments at the same place share one instance. */
	MAPI_FUNCTION_PURE = 1u << 0,
	/* The result is one uint64_t that only grows by what packets add: shared likewise, and each flow subtracts what was there when it joined. */
	MAPI_FUNCTION_ADDITIVE = 1u << 1,
	/* process() returns the mask it gets: what follows sees the packets that this function saw, and can share with flows without it. */
	MAPI_FUNCTION_PASSES_ALL = 1u << 2,
	/* The result also changes with what the function refers to: process() is called for batches without a packet for it, too. */
	MAPI_FUNCTION_EVERY_BATCH = 1u << 3,
	/*
	 * The result is many counts, whose number depends on the arguments, or changes while no packet comes: create() asks
	 * setup->allocate_result() for it once.  It is changed with mapi_result_set() alone and not copied after each burst: a reader may get
	 * counts of two batches.  Both are otherwise with MAPI_FUNCTION_RESULT_COPIED.
	 */
	MAPI_FUNCTION_RESULT_IN_PLACE = 1u << 4,
	/*
	 * What follows in the flow gets other packets than this function: those of next_batch().  process() returns 0.
	 */
	MAPI_FUNCTION_TRANSFORMS = 1u << 5,
	/* Results come one after another, result_bytes each, through the ring that create() makes; without one there are none. */
	MAPI_FUNCTION_RESULTS_IN_RING = 1u << 6,
	/* The ring that create() makes is of packets, each as a struct mapipkt. */
	MAPI_FUNCTION_PACKETS_IN_RING = 1u << 7,
	/* Packets leave the machine, with the rights of whoever runs the engine: mapid does it for few. */
	MAPI_FUNCTION_SENDS = 1u << 8,
	/*
	 * Between a function with the first flag and the next one with the second the flow's functions are measured, each by itself; such pairs nest.
	 * The second reads setup->meter, and has MAPI_FUNCTION_EVERY_BATCH, too.
	 */
	MAPI_FUNCTION_METER_BEGIN = 1u << 9,
	MAPI_FUNCTION_METER_END = 1u << 10,
	/*
	 * The instances of a joint may get different masks: joint_process() gets the packets of all of them, and what it lets pass counts for
	 * an instance only where that instance's own mask has it.
	 */
	MAPI_FUNCTION_JOINT_OF_ANY_MASKS = 1u << 11,
	/*
	 * With MAPI_FUNCTION_RESULT_IN_PLACE: what allocate_result() gives is the function's own and written like any memory, on the device's
	 * thread; readers get a copy, all of it of one moment.  It is made after a burst that had packets for the function, but the greater the
	 * result is the more seldom, so that readers have the time to read it; and when no packet comes, at a reset and at the end.  Not with
	 * compose_result().
	 */
	MAPI_FUNCTION_RESULT_COPIED = 1u << 12,
};

enum mapi_device_flags {
	MAPI_DEVICE_OFFLINE = 1u << 0, /* the source waits for its readers: back-pressure loses nothing */
	MAPI_DEVICE_PACKET_TYPES = 1u << 1, /* its packets have a packet_type, and filters of its driver may use the kernel's (SKF_AD_PKTTYPE) */
};

struct mapi_perf; /* results.h */

/*
 * What instances of one client's functions have in common.  The same address is the same kind: it is static, and stays as long as the
 * table.  Members are only appended.
 */
struct mapi_common_object {
	uint32_t struct_size; /* sizeof(struct mapi_common_object) */
	uint32_t reserved;
	/* A client's thread, one at a time, which neither waits nor asks for common objects.  NULL: no memory. */
	void *(*create)(void);
	/* Any thread, when nothing uses it any more. */
	void (*destroy)(void *object);
	uint64_t bytes; /* that it could hold at most */
};

/* What create() is told.  Everything pointed to but `result` is valid during the call only. */
struct mapi_function_setup {
	uint32_t struct_size;
	uint32_t argument_count;
	const struct mapi_argument *arguments; /* one for each letter of the table's args */
	void *result;          /* result_bytes of zeroed memory; process() writes, the engine publishes it after each burst */
	uint32_t device_flags; /* enum mapi_device_flags */
	uint32_t snaplen;      /* of the device, 0 when unknown */
	uint16_t link_type;    /* of the device, or MAPI_LINK_UNKNOWN */
	uint16_t reserved;
	uint32_t error_bytes;
	char *error; /* create() may explain a refusal here */
	/* With MAPI_FUNCTION_RESULT_IN_PLACE: zeroed memory that lives as long as the instance, at most MAPI_RESULT_BYTES_MAX; NULL: none.  Without a call there is no result. */
	uint64_t *(*allocate_result)(const struct mapi_function_setup *setup, uint32_t bytes);
	/* Batches of the flow's device are run packet by packet while the flow is connected. */
	void (*take_single_packets)(const struct mapi_function_setup *setup);
	void *engine; /* its own */
	const struct mapi_ring_calls *ring; /* lives as long as the instance; a ring needs one of the two flags ..._IN_RING, or compose_result() */
	uint32_t interface_index; /* of the network interface that the device reads; 0: it is none */
	uint32_t reserved_more;
	const char *config; /* lines "key=value" of the section that the table asks for; NULL: there are none */
	const struct mapi_perf *meter; /* with MAPI_FUNCTION_METER_END: what was measured; lives as long as the instance, right during process() */
	uint32_t snap_bytes; /* of each packet, at most so many are kept in copies for the client; 0: all */
	uint32_t reserved_last;
	/*
	 * During create() alone.  Bytes that the instance could hold at most, with its tables full, beside a few thousand, its arguments and
	 * what it gets from here; before they are taken, or at once after where a library alone knows, and more than once if need be.  0, or
	 * MAPI_LIMIT_REACHED: there is not so much left for the client, and create() fails with any number; the engine says why.
	 */
	int (*charge_memory)(const struct mapi_function_setup *setup, uint64_t bytes);
	/* During create() alone.  Made for the first of the client's instances that asks; lives as long as any of them and the client.  NULL: create() is to fail. */
	void *(*common_object)(const struct mapi_function_setup *setup, const struct mapi_common_object *kind);
};

/* One word of a result in place.  Any thread, but one at a time. */
static inline void mapi_result_set(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* The same for who reads it meanwhile. */
static inline uint64_t mapi_result_get(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* What compose_result() makes a result of. */
struct mapi_reading {
	const uint64_t *in_place; /* what allocate_result() gave, while it changes: mapi_result_get() */
	uint64_t *kept;           /* kept_words of the table; zeros at first, then what the last call left there */
	uint64_t result_bytes;
	/* The oldest record of the ring that no call has had, which stays until this one ends, and how long it is; NULL: there is none now. */
	const void *(*next_record)(struct mapi_reading *reading, uint32_t *bytes);
	void *engine; /* its own */
};

struct mapi_function_drops {
	uint64_t buffer_full;
	uint64_t link_type;
	uint64_t not_written; /* packets, or rows, that a file did not take */
	int write_error;      /* errno that tells why */
	uint64_t time_jumps;  /* steps back of the packets' time, and silences of more intervals than were told; no packet is lost by them */
	uint64_t unread_headers; /* packets of which the function needs a header that is cut, contradicts itself or is encrypted; they are not dropped */
	const char *write_reason; /* the reason and the remedy where the errno does not tell them, a string that is never freed; or NULL */
};

enum mapi_config_verdict {
	MAPI_CONFIG_LINE_GOOD,
	MAPI_CONFIG_LINE_WITHOUT_EFFECT, /* known, and of no use here */
	MAPI_CONFIG_LINE_WRONG,          /* create() will refuse it */
};

/* What one instance of many let pass. */
struct mapi_joint_passed {
	uint64_t mask;
	uint32_t instance; /* its place in the list that joint_create() got */
	uint32_t reserved;
};

struct mapi_function {
	uint32_t abi;         /* MAPI_FUNCTION_ABI */
	uint32_t struct_size; /* sizeof(struct mapi_function) */
	const char *name;
	const char *description;
	/*
	 * One letter for each argument:
	 *   s string                     n string or number
	 *   i int                        l 64-bit number
	 *   b 0 or 1; it is checked before functions are looked up and files opened
	 *   c character                  p path, as seen from "/"
	 *   r flow                       f function of the flow before it
	 *   F flows, as "fd,fd"          S functions, as "fid@fd,fid@fd"
	 *   w file to write: it is open and has its old contents; create() empties it once nothing is refused
	 *   W how the file of the w before it is rotated, as "size=BYTES,time=SECONDS,files=COUNT": the w is the first file, this argument has the others
	 *   o where messages go: "SHMEM", "host:port", or else a file as with w
	 *   u the caller's user, which the caller does not give
	 * Those after '?' are optional.  Those after "??" are also left out for a caller without a prototype, which cannot say how many it gives.
	 */
	const char *args;
	uint32_t flags;   /* enum mapi_function_flags */
	uint32_t result_bytes; /* at most MAPI_RESULT_BYTES_MAX; 0: none, or one in place */

	/* Client's thread, at apply.  0, or an error number of errors.h. */
	int (*create)(const struct mapi_function_setup *setup, void **instance);
	/* Device's thread.  Never called with an empty mask, but see MAPI_FUNCTION_EVERY_BATCH; returns a subset of mask. */
	uint64_t (*process)(void *instance, const struct mapi_batch *batch, uint64_t mask);
	/* Any thread, when nothing uses the instance any more. */
	void (*destroy)(void *instance);

	/* All below may be NULL. */
	/* Any thread, once: no packet will come any more, since the source has ended or the flow is closed.  It does not wait. */
	void (*end)(void *instance);
	/* Any thread, after end(): whether what end() began is done; NULL: it is.  The flow lasts until then. */
	int (*is_settled)(void *instance);
	/* Any thread: the flow closes; whoever waits in the instance must return. */
	void (*cancel)(void *instance);
	/* Any thread. */
	void (*drops)(const void *instance, struct mapi_function_drops *drops);
	/*
	 * Device's thread, after process() with the same batch and mask, when another function refers to this one: the result's
	 * first word as it was after packet i, into values[i].  Returns for which packets of mask.  NULL: the value after the
	 * batch's last packet stands for all.
	 */
	uint64_t (*values)(const void *instance, const struct mapi_batch *batch, uint64_t mask, uint64_t *values);
	/*
	 * With MAPI_FUNCTION_TRANSFORMS, which must have it.  Device's thread, after process() and after flush(), until it returns 0: 1, and
	 * `batch` is of packets made.  What it points to may be of the batch that process() was given last, and stays as it is until the
	 * next call for this instance.
	 */
	int (*next_batch)(void *instance, struct mapi_batch *batch);
	/* Device's thread: no packet will come any more; next_batch() gives what was held back. */
	void (*flush)(void *instance);
	/*
	 * Device's thread: a live device has no packet, and none with a time stamp before now_ns will come.  Then next_batch() is asked, as
	 * after process().
	 */
	void (*tick)(void *instance, uint64_t now_ns);
	/*
	 * Any thread, of a filter: a classic BPF program that accepts at least the packets that pass; its instructions live as long as the
	 * instance.  Returns their number, 0: there is none for this link type.
	 */
	uint32_t (*classic_bpf)(const void *instance, uint16_t link_type, const struct mapi_filter_code **code);
	/*
	 * Any thread, with MAPI_FUNCTION_RESULT_IN_PLACE: the result, all of it of one moment, into `result`, which has room for its bytes
	 * as whole words.  NULL: its words are read where they lie.  In a program that captures itself alone: mapid, whose clients read
	 * without asking it, does not apply such a function.
	 */
	void (*read_result)(void *instance, void *result);
	const char *config_section; /* of mapi.conf, for create() */
	/*
	 * Of a function with MAPI_FUNCTION_PURE, all three or none: many instances that get the same mask, run at once; see also
	 * MAPI_FUNCTION_JOINT_OF_ANY_MASKS.  A client's thread, while process() of any of them may be running.  0, or another number: one after the other is as good.  The instances live longer.
	 */
	int (*joint_create)(void *const *instances, uint32_t count, void **joint);
	/*
	 * Device's thread, in place of process() of each: which of them let what pass, each at most once and never an empty mask.  `passed`
	 * has room for all.  Returns how many.
	 */
	uint32_t (*joint_process)(void *joint, const struct mapi_batch *batch, uint64_t mask, struct mapi_joint_passed *passed);
	/* Any thread, when nothing uses the joint any more. */
	void (*joint_destroy)(void *joint);
	/*
	 * Device's thread, between two bursts; of a function that is neither PURE nor ADDITIVE: its result and what led to it are as after
	 * create().  NULL: it cannot be reset.
	 */
	void (*reset)(void *instance);
	/*
	 * Any thread, when mapi.conf is read: one of enum mapi_config_verdict for a line of config_section, and why in `text`.  NULL: create()
	 * alone looks at the lines.
	 */
	int (*check_config)(const char *key, const char *value, char *text, uint32_t text_bytes);
	/* Of each text from a client of mapid, where create() takes long for longer ones; 0: as many as it sends. */
	uint32_t text_bytes_max;
	uint32_t kept_words; /* of struct mapi_reading */
	/*
	 * With MAPI_FUNCTION_RESULT_IN_PLACE, of a function whose create() makes a ring: the result, into zeros that are as long as what lies
	 * in place, as whole words.  A reader's thread, one at a time for each instance, of which it knows nothing else, since it may be in
	 * another process.  It does not wait.  NULL: the result is what lies in place.  Of a plug-in as read_result(): not through mapid.
	 */
	void (*compose_result)(struct mapi_reading *reading, void *result);
	/*
	 * Of a function with MAPI_FUNCTION_PURE and without a result.  Any thread, one at a time for each instance, while process() may be running
	 * and until end() is called: 1, and `passed` is what process() would return for all packets of the batch, which is not called for them then;
	 * 0: process() has to be called.  It does not change the instance, and throws nothing.
	 */
	int (*prefilter)(const void *instance, const struct mapi_batch *batch, uint64_t *passed);
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_FUNCTION_H */
