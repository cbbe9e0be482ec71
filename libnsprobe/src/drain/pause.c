/* SPDX-License-Identifier: MIT */
/* Pauses of a recording -> rings that leave records out, and what the trace says of it. */
#include "pause.h"

#include <stdio.h>

#include "drain.h"
#include "session/announce.h"
#include "writer/clock_pair.h"
#include "writer/emit.h"

/* Readers keep at most 4096 keys of INFO; the totals count further switches. */
#define MOST_TOLD_SWITCHES 1000

static void announce(const struct nsp_drain *drain, const char *what, struct nsp_clock_pair now)
{
    const struct nsp_pauses *pauses = &drain->pauses;
    char text[128];
    int length;

    if (pauses->switches > MOST_TOLD_SWITCHES)
        return;
    length = snprintf(text, sizeof(text), "session.switch.%u=%s %llu ns %llu ticks\n",
                      pauses->switches, what, (unsigned long long)(now.mono_ns - pauses->opened_ns),
                      (unsigned long long)now.ticks);
    nsp_announce(drain->map, NSLICE_CHUNK_INFO, text, (uint32_t)length);
}

void nsp_drain_pause(struct nsp_drain *drain)
{
    struct nsp_clock_pair now;

    if (drain->pauses.since_ns)
        return;
    for (uint32_t cpu = 0; cpu < drain->map->cpus; ++cpu)
        nsp_ring_pause(nsp_shm_ring(drain->map, cpu));
    now = nsp_clock_pair();
    drain->pauses.since_ns = now.mono_ns;
    ++drain->pauses.switches;
    announce(drain, "stop", now);
}

void nsp_drain_resume(struct nsp_drain *drain)
{
    const struct nsp_clock_pair now = nsp_clock_pair();

    if (!drain->pauses.since_ns)
        return;
    drain->pauses.past_ns += now.mono_ns - drain->pauses.since_ns;
    drain->pauses.since_ns = 0;
    ++drain->pauses.switches;
    announce(drain, "start", now);
    nsp_drain_watch(drain);
    for (uint32_t cpu = 0; cpu < drain->map->cpus; ++cpu)
        nsp_ring_resume(nsp_shm_ring(drain->map, cpu));
    nsp_drain_sum_left_out(drain); /* with those of writers that came just before */
    for (uint32_t cpu = 0; cpu < drain->map->cpus; ++cpu)
        nslice_gaps_note(&drain->cpus[cpu].left_out, drain->pauses.left_out, drain->cpus[cpu].head);
}

void nsp_drain_sum_left_out(struct nsp_drain *drain)
{
    if (drain->pauses.switches > 0)
        drain->pauses.left_out = nsp_drain_left_out(drain);
}

void nsp_drain_write_pauses(struct nsp_drain *drain)
{
    const struct nsp_pauses *pauses = &drain->pauses;
    uint64_t ns = pauses->past_ns;

    if (pauses->switches == 0)
        return;
    if (pauses->since_ns)
        ns += nsp_monotonic_raw_ns() - pauses->since_ns;
    nsp_drain_write_total(drain, "switches", pauses->switches);
    nsp_drain_write_total(drain, "paused_ns", ns);
    nsp_drain_write_total(drain, "paused_records", nsp_drain_left_out(drain));
}

uint64_t nsp_drain_left_out(const struct nsp_drain *drain)
{
    uint64_t records = 0;

    if (drain->pauses.is_over)
        return drain->pauses.left_out;
    for (uint32_t cpu = 0; cpu < drain->map->cpus; ++cpu)
        records += __atomic_load_n(&nsp_shm_ring(drain->map, cpu)->lost[NSLICE_LEFT_OUT_PAUSED],
                                   __ATOMIC_RELAXED);
    return records;
}
