/* SPDX-License-Identifier: MIT */
/* The ring: how a function hands records to a client one by one.  One writer, the device's thread; one reader, perhaps in another process. */
#ifndef MAPI_RING_H
#define MAPI_RING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mapi_ring;
struct mapi_function_setup;

enum mapi_ring_flags {
	MAPI_RING_WRITER_WAITS = 1u << 0, /* reserve() waits until the reader has made room; otherwise what finds none is dropped */
	MAPI_RING_READER_RETURNS = 1u << 1, /* a reader that finds nothing goes on; otherwise it waits */
};

/* Without a size of its own: it grows only together with struct mapi_function. */
struct mapi_ring_options {
	uint32_t flags;       /* enum mapi_ring_flags */
	uint32_t spare_bytes; /* room that reserve_last() alone may use, for what end() still has to say */
	uint64_t bytes;       /* for records with 8 bytes before each; rounded up to a power of two */
	/* Where not 0, in place of `bytes` and what the flow's options say: room for so many records of record_bytes each and not for one more, or
	 * for what 1 GiB holds.  A longer record is dropped. */
	uint32_t records;
	uint32_t record_bytes;
};

/* What the engine does for a function, whose ring lives as long as its instance.  The engine cancels it, tells
 * its drops, and ends it after end() unless the function has is_settled(): then the function does that itself. */
struct mapi_ring_calls {
	/* During create(), once.  NULL: there is no memory for it. */
	struct mapi_ring *(*make)(const struct mapi_function_setup *setup, const struct mapi_ring_options *options);
	/* Device's thread: room for one record in one piece, aligned to 8.  NULL: there is none, and a drop is counted. */
	void *(*reserve)(struct mapi_ring *ring, uint32_t bytes);
	/* During end(): the same, never waits. */
	void *(*reserve_last)(struct mapi_ring *ring, uint32_t bytes);
	/* Device's thread, once a batch: the reader may have all that was reserved. */
	void (*publish)(struct mapi_ring *ring);
	/* Device's thread: there will be no more records although packets come. */
	void (*end)(struct mapi_ring *ring);
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_RING_H */
