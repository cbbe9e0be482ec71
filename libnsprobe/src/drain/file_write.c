/* SPDX-License-Identifier: MIT */
/* Trace file writer: chunk -> one writev, truncated to the last whole chunk on failure. */
#define _GNU_SOURCE
#include "file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "common/crc32c/crc32c.h"
#include "common/file_error/file_error.h"
#include "session/error.h"

_Static_assert(NSLICE_CHUNK_KINDS <= 16, "sequence[] holds every kind");

enum {
    PARTS_MAX = 2,   /* of a chunk: header, payload */
    HOLD_TRIES = 16, /* how often the program may close the descriptor during one chunk */
};

/* Writes all parts, or as much as possible; returns 0 or -errno. */
static int write_all(int fd, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t written = writev(fd, parts, count);

        if (written < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        while (count > 0 && (size_t)written >= parts->iov_len) {
            written -= (ssize_t)parts->iov_len;
            ++parts;
            --count;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + written;
            parts->iov_len -= (size_t)written;
        }
    }
    return 0;
}

/* The number may now belong to a file of the program. */
static int fail_closed(struct nsp_file *file)
{
    file->error = EBADF;
    file->fd = -1;
    return nsp_fail(
        -EBADF,
        "%s: the program closed the trace's descriptor, and the file cannot be reopened: %s",
        file->path, file->place[0] ? strerror(errno) : "not a regular file with a name");
}

/*
 * Reopens the file at its end.  Returns 0 or -errno.  -EBADF: the program closed the new descriptor
 * as well, and its number is not ours to close.  -EWOULDBLOCK: another session has the file, or the
 * kernel has not yet released the closed descriptor.
 */
static int open_again(struct nsp_file *file)
{
    int err;

    file->fd = -1;
    if (!file->place[0])
        return -ENOENT;
    file->fd = open(file->place, O_WRONLY | O_CLOEXEC);
    if (file->fd < 0)
        return -errno;
    if (nsp_descriptor_is(file->fd, &file->file))
        file->fd = nsp_descriptor_move_up(file->fd);
    if (!nsp_descriptor_is(file->fd, &file->file))
        err = -ESTALE; /* the name refers to another file */
    else if (flock(file->fd, LOCK_EX | LOCK_NB) ||
             lseek(file->fd, (off_t)file->bytes, SEEK_SET) < 0)
        err = -errno;
    else
        return 0;
    if (fcntl(file->fd, F_GETFD) < 0)
        return -EBADF;
    close(file->fd);
    return err;
}

static void pause_briefly(void)
{
    static const struct timespec pause = {0, 1000000};

    nanosleep(&pause, NULL);
}

/* Programs may close descriptors that they did not open and reuse their numbers. */
static int hold(struct nsp_file *file)
{
    int err = 0;

    for (int tries = 0; tries < HOLD_TRIES; ++tries) {
        if (nsp_descriptor_is(file->fd, &file->file))
            return 0;
        err = open_again(file);
        if (!err)
            return 0;
        if (err != -EBADF && err != -EWOULDBLOCK)
            break;
        pause_briefly();
    }
    errno = err == -EWOULDBLOCK ? ESTALE : -err;
    return fail_closed(file);
}

/* As write_all(), but the program may close the descriptor at any time. */
static int write_held(struct nsp_file *file, const struct iovec *parts, int count)
{
    int err = 0;

    for (int tries = 0; tries < HOLD_TRIES; ++tries) {
        struct iovec left[PARTS_MAX];

        err = hold(file);
        if (err)
            return err;
        memcpy(left, parts, (size_t)count * sizeof(*parts));
        err = write_all(file->fd, left, count);
        if (err != -EBADF)
            return err;
        pause_briefly();
    }
    return fail_closed(file);
}

/* Truncates the file and seeks to its end.  Returns 0 or an errno. */
static int cut_held(struct nsp_file *file, uint64_t bytes)
{
    for (int tries = 0; tries < HOLD_TRIES; ++tries) {
        if (hold(file))
            return EBADF;
        if (ftruncate(file->fd, (off_t)bytes) == 0 && lseek(file->fd, (off_t)bytes, SEEK_SET) >= 0)
            return 0;
        if (errno != EBADF)
            return errno;
        pause_briefly();
    }
    return EBADF;
}

static int append(struct nsp_file *file, const struct iovec *parts, int count)
{
    uint64_t bytes = 0;
    int err;

    if (file->error)
        return -file->error;
    for (int i = 0; i < count; ++i)
        bytes += parts[i].iov_len;
    err = write_held(file, parts, count);
    if (err && !file->error) {
        file->error = -err;
        /* A pipe cannot be truncated; its reader gets a partial chunk, which the format allows. */
        if (ftruncate(file->fd, (off_t)file->bytes) == 0)
            lseek(file->fd, (off_t)file->bytes, SEEK_SET);
        return nsp_fail(err, "%s: cannot write after %llu bytes: %s", file->path,
                        (unsigned long long)file->bytes, nslice_write_error(-err));
    }
    if (!err)
        file->bytes += bytes;
    return err;
}

int nsp_file_begin(struct nsp_file *file)
{
    struct nslice_file_header header = {.version = NSLICE_FILE_VERSION,
                                        .header_bytes = sizeof(header),
                                        .byte_order = NSLICE_FILE_BYTE_ORDER};
    struct iovec part = {&header, sizeof(header)};
    struct timespec now;
    const int err = cut_held(file, 0);

    if (err && file->error) /* it was closed */
        return -err;
    if (err && err != EINVAL) { /* a pipe */
        file->error = err;
        return nsp_fail(-err, "%s: cannot write: %s", file->path, nslice_write_error(err));
    }
    file->has_begun = 1;
    memcpy(header.magic, NSLICE_FILE_MAGIC, sizeof(header.magic));
    clock_gettime(CLOCK_REALTIME, &now);
    header.created_unix_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (getrandom(header.session_uuid, sizeof(header.session_uuid), 0) < 0)
        memcpy(header.session_uuid, &header.created_unix_ns, sizeof(header.created_unix_ns));
    header.header_crc32c = nslice_crc32c(&header, sizeof(header) - sizeof(header.header_crc32c));
    return append(file, &part, 1);
}

void nsp_file_tell_chunks(const struct nsp_file *file, struct nslice_file_footer *footer)
{
    footer->info_chunks = (uint32_t)file->sequence[NSLICE_CHUNK_INFO];
    footer->site_chunks = (uint32_t)file->sequence[NSLICE_CHUNK_SITES];
    footer->calibration_chunks = (uint32_t)file->sequence[NSLICE_CHUNK_CALIBRATION];
    footer->kernel_totals_chunks = (uint32_t)file->sequence[NSLICE_CHUNK_KERNEL_TOTALS];
    footer->kernel_calibration_chunks = (uint32_t)file->sequence[NSLICE_CHUNK_KERNEL_CALIBRATION];
    footer->kernel_site_chunks = (uint32_t)file->sequence[NSLICE_CHUNK_KERNEL_SITES];
}

static int is_records(const struct nslice_chunk_header *header)
{
    return header->kind == NSLICE_CHUNK_RECORDS || header->kind == NSLICE_CHUNK_KERNEL_RECORDS;
}

int nsp_file_chunk(struct nsp_file *file, struct nslice_chunk_header *header, const void *payload,
                   uint32_t payload_bytes)
{
    struct iovec parts[2] = {{header, sizeof(*header)}, {(void *)payload, payload_bytes}};
    int err;

    header->magic = NSLICE_CHUNK_MAGIC;
    header->header_bytes = sizeof(*header);
    header->payload_bytes = payload_bytes;
    header->payload_crc32c = nslice_crc32c(payload, payload_bytes);
    header->header_crc32c = nslice_crc32c(header, sizeof(*header) - sizeof(header->header_crc32c));
    err = append(file, parts, 2);
    if (!err && is_records(header))
        memcpy(file->sequence_at_records, file->sequence, sizeof(file->sequence));
    return err;
}

int nsp_file_small_chunk(struct nsp_file *file, uint16_t kind, const void *payload,
                         uint32_t payload_bytes)
{
    struct nslice_chunk_header header = {.kind = kind, .sequence = file->sequence[kind & 15]};
    uint64_t padded[8192];
    int err;

    if (payload_bytes % 8 == 0) {
        err = nsp_file_chunk(file, &header, payload, payload_bytes);
    } else if (payload_bytes <= sizeof(padded) - 8) {
        memset((char *)padded + (payload_bytes & ~7u), 0, 8);
        memcpy(padded, payload, payload_bytes);
        err = nsp_file_chunk(file, &header, padded, (payload_bytes + 7) & ~7u);
    } else {
        return -EINVAL;
    }
    if (!err)
        ++file->sequence[kind & 15];
    return err;
}

void nsp_file_forget_error(struct nsp_file *file)
{
    file->error = 0;
}

int nsp_file_cut(struct nsp_file *file, uint64_t bytes)
{
    const int err = cut_held(file, bytes);

    if (err)
        return -err;
    file->bytes = bytes;
    file->error = 0;
    memcpy(file->sequence, file->sequence_at_records, sizeof(file->sequence));
    return 0;
}

static int is_ours_to_remove(const struct nsp_file *file)
{
    struct stat opened, named;

    return nsp_descriptor_is(file->fd, &file->file) && !file->is_given &&
           (file->is_new || file->has_begun) && fstat(file->fd, &opened) == 0 &&
           S_ISREG(opened.st_mode) && lstat(file->path, &named) == 0 &&
           nsp_descriptor_same_file(&opened, &named);
}

static int has_another_root(const struct nsp_file *file)
{
    struct stat root;

    return stat("/", &root) == 0 && (root.st_dev != file->root_device || root.st_ino != file->root);
}

int nsp_file_find(const struct nsp_file *file)
{
    const char *const name = file->place[0] ? file->place : file->path; /* after a chdir() */
    struct stat opened, named;

    if (!nsp_descriptor_is(file->fd, &file->file) || fstat(file->fd, &opened) ||
        !S_ISREG(opened.st_mode))
        return 0;
    if ((file->is_given || (opened.st_nlink > 0 && has_another_root(file)) ||
         (stat(name, &named) == 0 && nsp_descriptor_same_file(&opened, &named))) &&
        (uint64_t)opened.st_size >= file->bytes)
        return 0;
    return nsp_fail(-ESTALE,
                    "%s: was removed, renamed, replaced or truncated while it was written: the "
                    "trace is missing",
                    file->path);
}

void nsp_file_abandon(struct nsp_file *file)
{
    if (is_ours_to_remove(file))
        unlink(file->path);
    nsp_file_close(file);
}

void nsp_file_leave(struct nsp_file *file)
{
    if (nsp_descriptor_is(file->fd, &file->file))
        close(file->fd);
    file->fd = -1;
}

int nsp_file_close(struct nsp_file *file)
{
    int err = -file->error;

    if (!nsp_descriptor_is(file->fd, &file->file)) {
        file->fd = -1;
        return err;
    }
    /* A child of fork() may share the open file, and with it the lock. */
    flock(file->fd, LOCK_UN);
    if (close(file->fd) && !err)
        err = nsp_fail(-errno, "%s: cannot write: %s", file->path, nslice_write_error(errno));
    file->fd = -1;
    return err;
}
