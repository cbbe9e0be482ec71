/* SPDX-License-Identifier: MIT */
/* Kernel recorder: chunks from /dev/nsmod -> the session's trace file. */
#define _GNU_SOURCE
#include "kernel_drain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <nslice/control.h>
#include <nslice/rules.h>

#include "kernel_request.h"
#include "session/error.h"
#include "session/module.h"

#define BUFFER_BYTES (sizeof(struct nslice_chunk_header) + NSLICE_MAX_PAYLOAD_BYTES)
#define PASS_BYTES (4u << 20)  /* then the programs' rings are drained */
#define END_MILLISECONDS 10000 /* limit without any data */

int nsp_kernel_drain_open(struct nsp_kernel_drain *kernel, const struct nsp_kernel_config *config,
                          uint32_t clock, uint32_t full)
{
    const struct nsp_kernel_source *source = config->source;
    int fd =
        source ? fcntl(source->fd, F_DUPFD_CLOEXEC, 0) : nsp_kernel_request(config, clock, full);

    if (fd < 0)
        return source ? nsp_fail(-errno, "kernel: its records cannot be read: %s", strerror(errno))
                      : fd;
    if (source)
        kernel->source = *source;
    else if (config->reason)
        snprintf(kernel->reason, sizeof(kernel->reason),
                 "kernel.recorder=nsmod\nkernel.recorder.reason=%s\n", config->reason);
    kernel->buffer = malloc(BUFFER_BYTES);
    if (!kernel->buffer) {
        close(fd);
        return nsp_fail(-ENOMEM, "out of memory");
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    kernel->fd = fd;
    return 0;
}

static struct nsp_kernel_unwritten *unwritten_of(struct nsp_kernel_drain *kernel, uint32_t cpu)
{
    struct nsp_kernel_unwritten *grown;

    for (uint32_t i = 0; i < kernel->unwritten_cpus; ++i)
        if (kernel->unwritten[i].cpu == cpu)
            return &kernel->unwritten[i];
    grown = realloc(kernel->unwritten, (kernel->unwritten_cpus + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    kernel->unwritten = grown;
    grown[kernel->unwritten_cpus] = (struct nsp_kernel_unwritten){.cpu = cpu};
    return &grown[kernel->unwritten_cpus++];
}

static void count_unwritten(struct nsp_kernel_drain *kernel, uint32_t cpu, uint32_t records)
{
    struct nsp_kernel_unwritten *of = unwritten_of(kernel, cpu);

    kernel->records -= records;
    if (of) {
        of->records += records;
        ++of->chunks;
    }
}

static void write_records(struct nsp_kernel_drain *kernel, struct nsp_file *file,
                          struct nsp_kernel_chunk *last)
{
    struct nslice_chunk_header header;
    const uint64_t offset = file->bytes;

    memcpy(&header, kernel->buffer, sizeof(header));
    kernel->records += header.records;
    if (nsp_file_chunk(file, &header, kernel->buffer + sizeof(header), header.payload_bytes))
        count_unwritten(kernel, header.cpu, header.records);
    else
        *last = (struct nsp_kernel_chunk){header.cpu, header.records, offset};
}

static void keep_totals(struct nsp_kernel_drain *kernel, const void *payload, uint32_t bytes)
{
    const struct nslice_file_kernel_totals *totals = payload;

    if (bytes < sizeof(*totals) ||
        totals->cpus > (bytes - sizeof(*totals)) / sizeof(struct nslice_file_footer_cpu))
        return;
    free(kernel->totals);
    kernel->totals = malloc(bytes);
    if (kernel->totals)
        memcpy(kernel->totals, payload, bytes);
    /* A child of fork() may have its pipe open: its end would come with the child's. */
    kernel->is_over = kernel->source.end != NULL;
}

/* With the first text of the module, which does not know why it was chosen. */
static void write_reason(struct nsp_kernel_drain *kernel, struct nsp_file *file)
{
    if (kernel->reason[0])
        nsp_file_small_chunk(file, NSLICE_CHUNK_INFO, kernel->reason,
                             (uint32_t)strlen(kernel->reason));
    kernel->reason[0] = 0;
}

/* The recorder numbers chunks of records, the file those of other kinds. */
static void write_chunk(struct nsp_kernel_drain *kernel, struct nsp_file *file,
                        struct nsp_kernel_chunk *last)
{
    const struct nslice_chunk_header *header = (const void *)kernel->buffer;
    const char *payload = kernel->buffer + sizeof(*header);

    switch (header->kind) {
    case NSLICE_CHUNK_KERNEL_RECORDS: write_records(kernel, file, last); break;
    case NSLICE_CHUNK_KERNEL_TOTALS: keep_totals(kernel, payload, header->payload_bytes); break;
    case NSLICE_CHUNK_INFO: write_reason(kernel, file); /* fall through */
    case NSLICE_CHUNK_KERNEL_SITES:
        if (kernel->take_sites && header->kind == NSLICE_CHUNK_KERNEL_SITES)
            kernel->take_sites(payload, header->payload_bytes);
        /* fall through */
    case NSLICE_CHUNK_KERNEL_CALIBRATION:
    case NSLICE_CHUNK_EPOCHS:
        nsp_file_small_chunk(file, header->kind, payload, header->payload_bytes);
        break;
    default: /* from a newer module: readers would skip it as well */ break;
    }
}

/* Bytes of the chunk in the buffer, at least those of its header; 0: not a chunk. */
static uint32_t chunk_bytes(const struct nsp_kernel_drain *kernel)
{
    const struct nslice_chunk_header *header = (const void *)kernel->buffer;

    if (kernel->filled < sizeof(*header))
        return sizeof(*header);
    if (header->magic != NSLICE_CHUNK_MAGIC || header->payload_bytes > NSLICE_MAX_PAYLOAD_BYTES)
        return 0;
    return (uint32_t)sizeof(*header) + header->payload_bytes;
}

/* One read.  Returns the bytes read, 0 at the end, or -errno. */
static ssize_t take(struct nsp_kernel_drain *kernel, struct nsp_file *file,
                    struct nsp_kernel_chunk *last)
{
    const ssize_t got =
        read(kernel->fd, kernel->buffer + kernel->filled, chunk_bytes(kernel) - kernel->filled);

    if (got <= 0)
        return got < 0 ? -errno : 0;
    kernel->filled += (uint32_t)got;
    if (chunk_bytes(kernel) == 0)
        return -EPROTO;
    if (kernel->filled == chunk_bytes(kernel) &&
        kernel->filled >= sizeof(struct nslice_chunk_header)) {
        write_chunk(kernel, file, last);
        kernel->filled = 0;
    }
    return got;
}

uint64_t nsp_kernel_drain_pass(struct nsp_kernel_drain *kernel, struct nsp_file *file,
                               struct nsp_kernel_chunk *last)
{
    uint64_t taken = 0;
    ssize_t got = 1;

    while (!kernel->is_over && got > 0 && taken < PASS_BYTES) {
        got = take(kernel, file, last);
        if (got > 0)
            taken += (uint64_t)got;
        else if (got != -EAGAIN && got != -EINTR)
            kernel->is_over = 1;
    }
    return taken;
}

void nsp_kernel_drain_ask_to_end(struct nsp_kernel_drain *kernel)
{
    if (kernel->source.end)
        kernel->source.end(kernel->source.of);
    else
        ioctl(kernel->fd, NSLICE_IOC_END);
}

static const char *name_of(const struct nsp_kernel_drain *kernel)
{
    return kernel->source.end ? "recorder" : "module nsmod";
}

int nsp_kernel_drain_end(struct nsp_kernel_drain *kernel, struct nsp_file *file,
                         struct nsp_kernel_chunk *last)
{
    struct pollfd wait = {.fd = kernel->fd, .events = POLLIN};

    if (kernel->fd < 0)
        return 0;
    nsp_kernel_drain_ask_to_end(kernel);
    while (!kernel->is_over)
        if (nsp_kernel_drain_pass(kernel, file, last) == 0 && !kernel->is_over &&
            poll(&wait, 1, END_MILLISECONDS) == 0)
            kernel->is_over = 1; /* timed out */
    if (kernel->totals && kernel->select_error)
        return nsp_fail(kernel->select_error,
                        "%s: the kernel %s did not accept new rules for its slices: %s", file->path,
                        name_of(kernel), strerror(-kernel->select_error));
    if (kernel->totals)
        return 0;
    return nsp_fail(-EPROTO,
                    "%s: the kernel %s did not finish its recording: the losses in its rings are "
                    "unknown",
                    file->path, name_of(kernel));
}

/* The payload is in memory that programs write: it is copied before it is checked. */
void nsp_kernel_drain_follow(struct nsp_kernel_drain *kernel, const char *info, uint32_t bytes)
{
    static const char key[] = "session.slices=";
    char text[sizeof(key) + NSLICE_RULES_TEXT + 1];
    char *rules = text + sizeof(key) - 1;

    if (kernel->fd < 0 || kernel->is_over || !kernel->follows_control || bytes >= sizeof(text))
        return;
    memcpy(text, info, bytes);
    text[bytes] = 0;
    if (strncmp(text, key, sizeof(key) - 1) != 0)
        return;
    rules[strcspn(rules, "\n")] = 0;
    kernel->select_error = kernel->source.select ? kernel->source.select(kernel->source.of, rules)
                                                 : nsp_kernel_select(kernel->fd, rules);
}

void nsp_kernel_drain_take_back(struct nsp_kernel_drain *kernel,
                                const struct nsp_kernel_chunk *last)
{
    count_unwritten(kernel, last->cpu, last->records);
}

/* One row, including the records that could not be written. */
static struct nslice_file_footer_cpu row_of(const struct nsp_kernel_drain *kernel, uint32_t at)
{
    struct nslice_file_footer_cpu row =
        ((const struct nslice_file_footer_cpu *)(kernel->totals + 1))[at];

    for (uint32_t i = 0; i < kernel->unwritten_cpus; ++i)
        if (kernel->unwritten[i].cpu == row.cpu) {
            row.drained -= kernel->unwritten[i].records;
            row.lost[NSLICE_LOST_WRITE] += kernel->unwritten[i].records;
            row.chunks -= kernel->unwritten[i].chunks;
        }
    return row;
}

void nsp_kernel_drain_counts(const struct nsp_kernel_drain *kernel,
                             struct nsp_session_counts *counts)
{
    for (uint32_t i = 0; kernel->totals && i < kernel->totals->cpus; ++i) {
        const struct nslice_file_footer_cpu row = row_of(kernel, i);

        counts->issued += row.issued;
        counts->drained += row.drained;
        for (size_t cause = 0; cause < sizeof(row.lost) / sizeof(row.lost[0]); ++cause)
            counts->lost[cause] += row.lost[cause];
    }
}

int nsp_kernel_drain_totals(const struct nsp_kernel_drain *kernel, struct nsp_file *file)
{
    struct nslice_file_footer_cpu *rows;
    struct nslice_file_kernel_totals *reported;
    size_t bytes;
    int err;

    if (!kernel->totals)
        return 0;
    bytes = sizeof(*reported) + kernel->totals->cpus * sizeof(*rows);
    reported = malloc(bytes);
    if (!reported)
        return nsp_fail(-ENOMEM, "out of memory for the kernel's totals");
    memcpy(reported, kernel->totals, sizeof(*reported));
    rows = (void *)(reported + 1);
    for (uint32_t i = 0; i < reported->cpus; ++i)
        rows[i] = row_of(kernel, i);
    err = nsp_file_small_chunk(file, NSLICE_CHUNK_KERNEL_TOTALS, reported, (uint32_t)bytes);
    free(reported);
    return err;
}

void nsp_kernel_drain_leave(struct nsp_kernel_drain *kernel)
{
    if (kernel->fd >= 0)
        close(kernel->fd);
    kernel->fd = -1;
    kernel->source = (struct nsp_kernel_source){.fd = -1};
}

void nsp_kernel_drain_close(struct nsp_kernel_drain *kernel)
{
    nsp_kernel_drain_leave(kernel);
    free(kernel->buffer);
    free(kernel->totals);
    free(kernel->unwritten);
    memset(kernel, 0, sizeof(*kernel));
    kernel->fd = -1;
}
