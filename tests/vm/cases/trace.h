/* SPDX-License-Identifier: MIT */
/*
 * Trace in memory -> sums of its two sides, the processes' and the kernel's, and whether each
 * side's equation holds: for each CPU issued = drained + lost, and the chunks have the declared
 * number of records.  Checksums are left to nsdump.
 */
#ifndef NETSLICE_VM_TRACE_H
#define NETSLICE_VM_TRACE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <nslice/file.h>

#define TRACE_MAX_CPUS 64

struct trace_side {
    uint64_t records, issued, lost;
    uint64_t last_mark; /* largest value of a MARK */
    uint64_t in_chunks[TRACE_MAX_CPUS], chunks[TRACE_MAX_CPUS];
    const char *fault; /* NULL: it is valid */
};

struct trace {
    struct trace_side user, kernel;
    int has_footer, has_totals;
};

static inline const char *
add_records(struct trace_side *side, const struct nslice_chunk_header *chunk, const uint64_t *units)
{
    const uint64_t count = chunk->payload_bytes / NSLICE_WORD_BYTES;
    uint64_t at = 0, records = 0;

    if (chunk->cpu >= TRACE_MAX_CPUS || chunk->sequence != side->chunks[chunk->cpu]++)
        return "a chunk is missing";
    for (; at + NSLICE_HEAD_WORDS <= count; ++records) {
        const uint64_t kind = units[at + 1] >> 48 & 0xff, words = units[at + 1] >> 56 & 7;

        if (kind < NSLICE_KIND_START || kind > NSLICE_KIND_EXIT ||
            at + NSLICE_HEAD_WORDS + words > count)
            return "no record";
        if (kind == NSLICE_KIND_MARK && units[at + 2] > side->last_mark)
            side->last_mark = units[at + 2];
        at += NSLICE_HEAD_WORDS + words;
    }
    side->in_chunks[chunk->cpu] += records;
    side->records += records;
    return at == count && records == chunk->records ? NULL : "a chunk's record count is wrong";
}

static inline const char *add_rows(struct trace_side *side,
                                   const struct nslice_file_footer_cpu *rows, uint32_t count)
{
    uint64_t drained = 0;

    for (uint32_t i = 0; i < count; ++i) {
        uint64_t lost = 0;

        for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
            lost += rows[i].lost[cause];
        if (rows[i].issued != rows[i].drained + lost)
            return "issued is not drained + lost";
        if (rows[i].cpu >= TRACE_MAX_CPUS || rows[i].drained != side->in_chunks[rows[i].cpu])
            return "drained is not what is in the chunks";
        side->issued += rows[i].issued;
        side->lost += lost;
        drained += rows[i].drained;
    }
    return drained == side->records ? NULL : "records of a CPU without a row";
}

static inline void note(struct trace_side *side, const char *fault)
{
    if (fault && !side->fault)
        side->fault = fault;
}

static inline void add_chunk(struct trace *trace, const struct nslice_chunk_header *chunk,
                             const void *payload)
{
    const struct nslice_file_footer *footer = payload;
    const struct nslice_file_kernel_totals *totals = payload;

    if (chunk->kind == NSLICE_CHUNK_RECORDS)
        note(&trace->user, add_records(&trace->user, chunk, payload));
    if (chunk->kind == NSLICE_CHUNK_KERNEL_RECORDS)
        note(&trace->kernel, add_records(&trace->kernel, chunk, payload));
    if (chunk->kind == NSLICE_CHUNK_FOOTER) {
        note(&trace->user, add_rows(&trace->user, (const void *)(footer + 1), footer->cpus));
        trace->has_footer = 1;
    }
    if (chunk->kind == NSLICE_CHUNK_KERNEL_TOTALS) {
        note(&trace->kernel, add_rows(&trace->kernel, (const void *)(totals + 1), totals->cpus));
        trace->has_totals = 1;
    }
}

/* NULL, or why it is not a valid trace. */
static inline const char *read_trace(struct trace *trace, const char *bytes, uint64_t count)
{
    uint64_t at = sizeof(struct nslice_file_header);

    memset(trace, 0, sizeof(*trace));
    if (count < at || memcmp(bytes, NSLICE_FILE_MAGIC, 8) != 0)
        return "no header";
    while (at + sizeof(struct nslice_chunk_header) <= count) {
        const struct nslice_chunk_header *chunk = (const void *)(bytes + at);

        at += sizeof(*chunk);
        if (chunk->magic != NSLICE_CHUNK_MAGIC || chunk->payload_bytes > count - at)
            return "a chunk is damaged";
        add_chunk(trace, chunk, chunk + 1);
        at += chunk->payload_bytes;
    }
    if (!trace->has_footer)
        return "no footer";
    return at != count         ? "bytes after the footer"
           : trace->user.fault ? trace->user.fault
                               : trace->kernel.fault;
}

#endif /* NETSLICE_VM_TRACE_H */
