/* SPDX-License-Identifier: MIT */
/* Trace file writer: chunks -> file, only whole chunks. */
#ifndef NSP_FILE_WRITE_H
#define NSP_FILE_WRITE_H

#include <stdint.h>
#include <sys/types.h>

#include <nsprobe/file.h>

#include "recorder/descriptor.h"

struct nsp_file {
    int fd;
    struct nsp_descriptor_file file;  /* of fd, unless the program has closed it */
    uint64_t bytes;                   /* whole chunks so far */
    uint64_t sequence[16];            /* by chunk kind; RECORDS are counted per CPU elsewhere */
    uint64_t sequence_at_records[16]; /* as of the last chunk of records */
    int is_new;                       /* the file did not exist before */
    int has_begun;                    /* the previous content is gone */
    int is_given;                     /* opened by the caller, who knows its name */
    int error; /* first errno of a write; afterwards only a footer is written */
    char path[512];
    char place[512];   /* absolute path for reopening; empty if not possible */
    dev_t root_device; /* of "/" when the file was opened: chroot() gives paths another meaning */
    ino_t root;
};

/*
 * Opens the file and locks it against other sessions.  Its content stays until
 * nsp_file_begin(), since opening the session may still fail.  Returns 0 or -errno.
 * -EEXIST: not a trace; -EBUSY: being written; -ENXIO: a pipe without a reader.
 */
int nsp_file_open(struct nsp_file *file, const char *path);

/*
 * The same with a descriptor, which stays the caller's; name: for messages.  -EBADF: not writable.
 */
int nsp_file_take(struct nsp_file *file, int given, const char *name);

/* Empties the file and writes its header.  Returns 0 or -errno. */
int nsp_file_begin(struct nsp_file *file);

/*
 * Appends one chunk.  The caller sets kind, sequence, cpu, records, lost_before and
 * first_ticks in the header; the rest is filled in.  Returns 0 or -errno; after a
 * failure the file ends with the last whole chunk.
 */
int nsp_file_chunk(struct nsp_file *file, struct nslice_chunk_header *header, const void *payload,
                   uint32_t payload_bytes);

/*
 * Appends a chunk of any kind except RECORDS, with the next sequence number of its kind; text is
 * padded to 8 bytes.
 */
int nsp_file_small_chunk(struct nsp_file *file, uint16_t kind, const void *payload,
                         uint32_t payload_bytes);

/* Stores the number of chunks of each kind except records. */
void nsp_file_tell_chunks(const struct nsp_file *file, struct nslice_file_footer *footer);

/* Allows writing a footer after a failure: the room of the chunk that did not fit is free again. */
void nsp_file_forget_error(struct nsp_file *file);

/*
 * Truncates the file to `bytes`, the start of the last chunk of records, and clears a failure.
 * Returns 0 or -errno, e.g. for a pipe.
 */
int nsp_file_cut(struct nsp_file *file, uint64_t bytes);

/*
 * Returns 0, or -ESTALE if the name no longer refers to all that was written: the file was removed,
 * replaced or truncated.
 */
int nsp_file_find(const struct nsp_file *file);

/*
 * Closes the file, and removes it if nothing is lost: never an older trace, a device, a pipe, a
 * link or a descriptor of the caller.
 */
void nsp_file_abandon(struct nsp_file *file);

/*
 * In a child of fork(), which does not own the file: closes the descriptor if it still is the
 * file's.
 */
void nsp_file_leave(struct nsp_file *file);

/* Returns 0, or the -errno of any failure since the start. */
int nsp_file_close(struct nsp_file *file);

#endif /* NSP_FILE_WRITE_H */
