/* SPDX-License-Identifier: MIT */
/* Kernel recorder: chunks from /dev/nsmod -> the session's trace file. */
#ifndef NSP_KERNEL_DRAIN_H
#define NSP_KERNEL_DRAIN_H

#include <stdint.h>

#include <nsprobe/recorder.h>

#include "file_write.h"

/* Chunks of one CPU that could not be written to the file. */
struct nsp_kernel_unwritten {
    uint32_t cpu;
    uint64_t records, chunks;
};

struct nsp_kernel_drain {
    int fd;       /* -1: the kernel is not recorded */
    int is_over;  /* no more chunks follow */
    char *buffer; /* one chunk, as far as received */
    uint32_t filled;
    uint64_t records;                         /* in chunks so far */
    struct nslice_file_kernel_totals *totals; /* with its rows; written just before the footer */
    struct nsp_kernel_unwritten *unwritten;
    uint32_t unwritten_cpus;
    int follows_control;             /* new rules of the programs also apply to the kernel */
    int select_error;                /* -errno of the last ones */
    struct nsp_kernel_source source; /* end is NULL: the module */
    char reason[160];                /* why it is the module, until it is written */
    /* NULL, or gets the payloads of chunks with sites */
    void (*take_sites)(const void *payload, uint32_t bytes);
};

/* Returns 0, or -errno with the reason and the remedy in nsp_last_error(). */
int nsp_kernel_drain_open(struct nsp_kernel_drain *kernel, const struct nsp_kernel_config *config,
                          uint32_t clock, uint32_t full);

/* A chunk written to the file, so that it can be removed again. */
struct nsp_kernel_chunk {
    uint32_t cpu, records; /* 0 records: none was written */
    uint64_t offset;
};

/*
 * Drains what is available, without waiting.  Returns the number of bytes.  Records
 * that cannot be written are counted in the totals.
 */
uint64_t nsp_kernel_drain_pass(struct nsp_kernel_drain *kernel, struct nsp_file *file,
                               struct nsp_kernel_chunk *last);

/* Ends the recording; further passes drain the rest. */
void nsp_kernel_drain_ask_to_end(struct nsp_kernel_drain *kernel);

/* Ends the recording and drains the rest.  Returns 0, or -errno if the module did not finish. */
int nsp_kernel_drain_end(struct nsp_kernel_drain *kernel, struct nsp_file *file,
                         struct nsp_kernel_chunk *last);

/* Accounts for the removal of the last chunk from the file. */
void nsp_kernel_drain_take_back(struct nsp_kernel_drain *kernel,
                                const struct nsp_kernel_chunk *last);

/*
 * INFO that a program has announced: if it consists of new rules, and programs may change rules,
 * they also apply to the kernel.
 */
void nsp_kernel_drain_follow(struct nsp_kernel_drain *kernel, const char *info, uint32_t bytes);

/* Adds the totals, without file_bytes; nothing if no totals were received. */
void nsp_kernel_drain_counts(const struct nsp_kernel_drain *kernel,
                             struct nsp_session_counts *counts);

/* Writes the totals, if any.  Returns 0 or the file's -errno. */
int nsp_kernel_drain_totals(const struct nsp_kernel_drain *kernel, struct nsp_file *file);

/* After the end: nothing of the source is used any more; the totals remain. */
void nsp_kernel_drain_leave(struct nsp_kernel_drain *kernel);

void nsp_kernel_drain_close(struct nsp_kernel_drain *kernel);

#endif /* NSP_KERNEL_DRAIN_H */
