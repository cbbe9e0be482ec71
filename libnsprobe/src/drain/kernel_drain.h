/* SPDX-License-Identifier: MIT */
/* Kernel's recorder: its chunks out of /dev/nsmod -> the session's trace file. */
#ifndef NSP_KERNEL_DRAIN_H
#define NSP_KERNEL_DRAIN_H

#include <stdint.h>

#include <nsprobe/recorder.h>

#include "file_write.h"

/* Chunks of one CPU that the file could not take. */
struct nsp_kernel_unwritten {
    uint32_t cpu;
    uint64_t records, chunks;
};

struct nsp_kernel_drain {
    int fd;               /* -1: the kernel's side is not recorded */
    int is_over;          /* no chunk comes any more */
    char *buffer;         /* one chunk, as far as it has come */
    uint32_t filled;
    uint64_t records;     /* in chunks so far */
    struct nslice_file_kernel_totals *totals; /* with its rows; goes into the file right before the footer */
    struct nsp_kernel_unwritten *unwritten;
    uint32_t unwritten_cpus;
};

/* 0, or -errno with words: what is missing and what to do. */
int nsp_kernel_drain_open(struct nsp_kernel_drain *kernel, const struct nsp_kernel_config *config, uint32_t clock, uint32_t full);

/* A chunk that has gone into the file: so that it may be taken back. */
struct nsp_kernel_chunk {
    uint32_t cpu, records; /* 0 records: none was written */
    uint64_t offset;
};

/*
 * Takes what there is, without waiting.  Bytes taken.  What the file cannot
 * take is counted: the totals say so.
 */
uint64_t nsp_kernel_drain_pass(struct nsp_kernel_drain *kernel, struct nsp_file *file, struct nsp_kernel_chunk *last);

/* Ends the recording and takes the rest.  0, or -errno: the module did not come to an end. */
int nsp_kernel_drain_end(struct nsp_kernel_drain *kernel, struct nsp_file *file, struct nsp_kernel_chunk *last);

/* The last chunk has left the file again. */
void nsp_kernel_drain_take_back(struct nsp_kernel_drain *kernel, const struct nsp_kernel_chunk *last);

/* Sums of the totals, without file_bytes; zero where none have come. */
void nsp_kernel_drain_counts(const struct nsp_kernel_drain *kernel, struct nsp_session_counts *counts);

/* Writes the totals, if there are any.  0 or -errno of the file. */
int nsp_kernel_drain_totals(const struct nsp_kernel_drain *kernel, struct nsp_file *file);

void nsp_kernel_drain_close(struct nsp_kernel_drain *kernel);

#endif /* NSP_KERNEL_DRAIN_H */
