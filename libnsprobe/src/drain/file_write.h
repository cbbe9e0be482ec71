/* SPDX-License-Identifier: MIT */
/* Trace file writer: chunks -> file, whole chunks only. */
#ifndef NSP_FILE_WRITE_H
#define NSP_FILE_WRITE_H

#include <stdint.h>

#include <nsprobe/file.h>

#include "recorder/descriptor.h"

struct nsp_file {
    int fd;
    struct nsp_descriptor_file file; /* of fd, as far as the program has not closed it */
    uint64_t bytes;        /* whole chunks so far */
    uint64_t sequence[16];  /* by chunk kind; RECORDS count for each CPU elsewhere */
    uint64_t sequence_at_records[16]; /* when the last chunk of records was written */
    int is_new;            /* nothing had this name before */
    int has_begun;         /* what stood there before is gone */
    int is_given;          /* somebody else has opened it, and knows its name */
    int error;             /* first errno that a write met; nothing but a footer is tried after it */
    char path[512];
    char place[512];       /* the same from the root, to open it again; empty where that cannot be */
};

/*
 * Opens the file and locks it against other sessions.  What stands in it stays
 * until nsp_file_begin(): a session may still turn out to be impossible.
 * 0 or -errno: -EEXIST it is not a trace, -EBUSY it is being written,
 * -ENXIO it is a pipe without a reader.
 */
int nsp_file_open(struct nsp_file *file, const char *path);

/* The same with a descriptor, which stays the caller's; name: for messages.  -EBADF it cannot be written. */
int nsp_file_take(struct nsp_file *file, int given, const char *name);

/* Empties the file and writes its header.  0 or -errno. */
int nsp_file_begin(struct nsp_file *file);

/*
 * Appends one chunk.  header: kind, sequence, cpu, records, lost_before and
 * first_ticks are the caller's, the rest is filled in.  0 or -errno; after a
 * failure the file ends with the last whole chunk.
 */
int nsp_file_chunk(struct nsp_file *file, struct nslice_chunk_header *header, const void *payload,
                   uint32_t payload_bytes);

/* A chunk of any other kind than RECORDS, with the next sequence number of its kind; text is padded to 8 bytes. */
int nsp_file_small_chunk(struct nsp_file *file, uint16_t kind, const void *payload, uint32_t payload_bytes);

/* How many chunks there are of each kind but records. */
void nsp_file_tell_chunks(const struct nsp_file *file, struct nslice_file_footer *footer);

/* Lets a footer be tried after a failure: the room of the chunk that did not fit is free again. */
void nsp_file_forget_error(struct nsp_file *file);

/* Truncates the file to `bytes`, the start of the last chunk of records, and clears a failure.  0, or -errno, for example for a pipe. */
int nsp_file_cut(struct nsp_file *file, uint64_t bytes);

/* 0, or -ESTALE when the name no longer leads to all that was written: somebody removed, replaced or cut the file. */
int nsp_file_find(const struct nsp_file *file);

/* Closes, and removes the file if nothing is lost by it: never an older trace, a device, a pipe, a link or one that was given. */
void nsp_file_abandon(struct nsp_file *file);

/* In a child of fork(), which has no part in the file: closes the descriptor, if it still is the file's. */
void nsp_file_leave(struct nsp_file *file);

/* 0, or -errno of anything that went wrong since the start. */
int nsp_file_close(struct nsp_file *file);

#endif /* NSP_FILE_WRITE_H */
