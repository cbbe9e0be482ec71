/* SPDX-License-Identifier: MIT */
/* Calibration on request, without a session: settings -> probe state -> measurement. */
#define _GNU_SOURCE
#include <nsprobe/calibrate.h>

#include <errno.h>
#include <sys/rseq.h>

#include "calibrate_setup.h"
#include "counters/counters.h"
#include "counters/source.h"
#include "session/error.h"
#include "session/process.h"

static int calibrate(const struct nsp_calibration_request *request, struct nsp_calibration *out)
{
    struct nsp_calibration_setup setup = {
        .ring_kind = request->ring_kind, .batches = request->batches, .halves = request->halves};
    const int has_rseq = nsp_has_rseq();
    struct nsp_surroundings surroundings;
    char names[256];
    uint32_t counters;
    int err;

    if (setup.ring_kind == 0)
        setup.ring_kind = has_rseq ? NSLICE_RING_RSEQ : NSLICE_RING_ATOMIC;
    if (setup.ring_kind == NSLICE_RING_RSEQ && !has_rseq)
        return nsp_fail(
            -ENOTSUP,
            "this process has no rseq (kernel before 4.18, glibc before 2.35, or disabled by "
            "GLIBC_TUNABLES)");
    err = nsp_source_choose(request->counters, request->source, &counters, names, sizeof(names));
    if (err)
        return err;
    __atomic_fetch_add(&nsp_session_generation, 1, __ATOMIC_SEQ_CST);
    setup.state.ordered = request->clock == NSP_CLOCK_ORDERED;
    setup.state.mode = nsp_probe_mode(counters, setup.ring_kind, (int)setup.state.ordered);
    setup.state.rseq_offset = __rseq_offset;
    setup.state.counters = counters;
    setup.state.ring_kind = setup.ring_kind;
    err = nsp_calibrate_with(&setup, out, &surroundings);
    nsp_source_release();
    return err;
}

int nsp_calibrate(const struct nsp_calibration_request *request, struct nsp_calibration *out)
{
    int err;

    if (!nsp_process_claim())
        return nsp_fail(-EBUSY, "a session is running; its calibration is in its trace");
    err = calibrate(request, out);
    nsp_process_disclaim();
    return err;
}
