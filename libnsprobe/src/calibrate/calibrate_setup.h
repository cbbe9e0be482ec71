/* SPDX-License-Identifier: MIT */
/* How a session requests its own calibration: its state, with other rings. */
#ifndef NSP_CALIBRATE_SETUP_H
#define NSP_CALIBRATE_SETUP_H

#include <nsprobe/calibrate.h>
#include <nsprobe/detail/functions.h>
#include <nsprobe/detail/state.h>

#include "surroundings.h"

/* Costs of functions' slices, in ticks in two contexts and in counters. */
#define NSP_MAX_WAY_ENTRIES (NSP_CALIBRATION_MAX_CPUS * NSP_WAYS * (2 + NSLICE_MAX_COUNTERS))

struct nsp_way_entries {
    uint32_t count;
    struct nslice_calibration_entry entries[NSP_MAX_WAY_ENTRIES];
};

struct nsp_calibration_setup {
    struct nsp_detail_state state; /* mode, ordered, counters, ring_kind, rseq_offset; not rings */
    uint32_t ring_kind;
    uint32_t batches;             /* 0: default */
    uint32_t halves;              /* as in nsp_calibration_request */
    struct nsp_way_entries *ways; /* measured if functions are recorded; NULL: not */
    uint64_t ring_bytes;          /* size of the scratch rings, as the session's; 0: default */
};

/*
 * As nsp_calibrate(), with the active counter source; `surroundings`: what happened around it, for
 * nsp_surroundings_text().
 */
int nsp_calibrate_with(const struct nsp_calibration_setup *setup, struct nsp_calibration *out,
                       struct nsp_surroundings *surroundings);

#endif /* NSP_CALIBRATE_SETUP_H */
