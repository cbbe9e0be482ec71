/* SPDX-License-Identifier: MIT */
/* Entries of a calibration in progress: values of batches -> inner and outer cost. */
#include "calibrate_run.h"

#include <stddef.h>

#include "sample_turns.h"

const uint8_t nsp_record_kinds[NSP_ALL_KINDS] = {
    NSLICE_KIND_START, NSLICE_KIND_MARK, NSLICE_KIND_INIT,  NSLICE_KIND_EXIT,
    NSLICE_KIND_START, NSLICE_KIND_STOP, NSLICE_KIND_START, NSLICE_KIND_START};

static struct nslice_calibration_entry *next_way_entry(struct nsp_way_entries *ways)
{
    return ways->count < sizeof(ways->entries) / sizeof(ways->entries[0])
               ? &ways->entries[ways->count++]
               : NULL;
}

/* NULL: the calibration is full. */
static struct nslice_calibration_entry *next_entry(struct nsp_calibration *out, int is_half)
{
    if (is_half)
        return out->half_count < NSP_CALIBRATION_MAX_HALVES ? &out->halves[out->half_count++]
                                                            : NULL;
    return out->count < NSP_CALIBRATION_MAX_ENTRIES ? &out->entries[out->count++] : NULL;
}

struct nslice_calibration_entry *nsp_add_entry(struct nsp_calibration_run *run,
                                               const struct nsp_cpu_run *cpu, int kind,
                                               uint8_t flags, uint32_t field,
                                               const struct nsp_batch_values *values,
                                               uint32_t batches)
{
    const struct nsp_estimate outer =
        nsp_trimmed_mean_of_turns(values->outer, run->sorted, batches, NSP_TURNS);
    const struct nsp_estimate inner =
        nsp_trimmed_mean_of_turns(values->inner, run->sorted, batches, NSP_TURNS);
    struct nslice_calibration_entry *const entry =
        nsp_is_way(kind) ? next_way_entry(run->ways) : next_entry(run->out, nsp_is_half(kind));

    if (nsp_is_way(kind))
        flags |= (uint8_t)((kind - NSP_MACRO_KINDS + 1) << NSLICE_WAY_SHIFT);

    if (entry)
        *entry = (struct nslice_calibration_entry){
            .cpu = cpu->cpu,
            .kind = nsp_record_kinds[kind] | flags,
            .field = (uint8_t)field,
            .degrees = (uint16_t)nsp_degrees_of_turns(batches, NSP_TURNS),
            .samples = outer.samples,
            .trimmed = outer.trimmed,
            .inner = inner.mean,
            .inner_ci95 = inner.ci95,
            .outer = outer.mean,
            .outer_ci95 = outer.ci95,
        };
    return entry;
}

static void copy_way_entries(struct nsp_way_entries *ways, uint32_t from_cpu, uint32_t to_cpu)
{
    const uint32_t count = ways->count;

    for (uint32_t i = 0; i < count; ++i) {
        const struct nslice_calibration_entry *const from = &ways->entries[i];
        struct nslice_calibration_entry *const to =
            from->cpu == from_cpu && from->field > 0 ? next_way_entry(ways) : NULL;

        if (to) {
            *to = *from;
            to->cpu = to_cpu;
        }
    }
}

void nsp_copy_counter_entries(struct nsp_calibration_run *run, uint32_t from_cpu, uint32_t to_cpu)
{
    struct nsp_calibration *const out = run->out;
    const uint32_t count = out->count, half_count = out->half_count;

    if (run->ways)
        copy_way_entries(run->ways, from_cpu, to_cpu);
    for (uint32_t i = 0; i < count + half_count; ++i) {
        const struct nslice_calibration_entry *const from =
            i < count ? &out->entries[i] : &out->halves[i - count];
        struct nslice_calibration_entry *to;

        if (from->cpu != from_cpu || from->field == 0)
            continue;
        to = next_entry(out, i >= count);
        if (to) {
            *to = *from;
            to->cpu = to_cpu;
        }
    }
}
