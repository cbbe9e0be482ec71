/* SPDX-License-Identifier: MIT */
/* A meter's own cost: empty pairs, and pairs around dependent work (../../CORRECTION.md). */
#include <math.h>

#include <nsprobe/sample.h>

#include "meter.h"
#include "work.h"

#define BATCHES 40
#define ROUNDS 32

/* Batch means of one field: an empty pair, and what a pair adds to work inside it. */
struct field {
    double alone[BATCHES];
    double around_work[BATCHES];
};

static struct nsp_meter_sum pairs(struct nsp_meter *meter)
{
    struct nsp_meter_sum sum = {0};

    for (int i = 0; i < ROUNDS; ++i) {
        nsp_meter_begin(meter);
        nsp_meter_end(meter, &sum);
    }
    return sum;
}

static struct nsp_meter_sum pairs_around_work(struct nsp_meter *meter)
{
    struct nsp_meter_sum sum = {0};
    uint64_t work = 3;

    for (int i = 0; i < ROUNDS; ++i) {
        nsp_meter_begin(meter);
        NSP_WORK(work);
        nsp_meter_end(meter, &sum);
    }
    return sum;
}

static struct nsp_meter_sum work_in_one_pair(struct nsp_meter *meter)
{
    struct nsp_meter_sum sum = {0};
    uint64_t work = 3;

    nsp_meter_begin(meter);
    for (int i = 0; i < ROUNDS; ++i)
        NSP_WORK(work);
    nsp_meter_end(meter, &sum);
    return sum;
}

/*
 * s: ROUNDS pairs around work; w: the same work in one pair, which includes the cost of one pair.
 */
static double added(uint64_t s, uint64_t w, double alone)
{
    return ((double)s - ((double)w - alone)) / ROUNDS;
}

static struct nsp_meter_cost cost_of(struct field *field)
{
    const struct nsp_estimate alone = nsp_trimmed_mean(field->alone, BATCHES);
    const struct nsp_estimate around = nsp_trimmed_mean(field->around_work, BATCHES);

    return (struct nsp_meter_cost){around.mean, around.ci95 + fabs(alone.mean - around.mean)};
}

void nsp_meter_calibrate(struct nsp_meter *meter)
{
    struct field ticks, cycles, instructions;

    for (int i = 0; i < BATCHES; ++i) {
        const struct nsp_meter_sum a = pairs(meter), s = pairs_around_work(meter),
                                   w = work_in_one_pair(meter);

        ticks.alone[i] = (double)a.ticks / ROUNDS;
        ticks.around_work[i] = added(s.ticks, w.ticks, ticks.alone[i]);
        cycles.alone[i] = (double)a.cycles / ROUNDS;
        cycles.around_work[i] = added(s.cycles, w.cycles, cycles.alone[i]);
        instructions.alone[i] = instructions.around_work[i] = (double)a.instructions / ROUNDS;
    }
    meter->ticks = cost_of(&ticks);
    meter->cycles = cost_of(&cycles);
    meter->instructions = cost_of(&instructions);
}
