/* SPDX-License-Identifier: MIT */
/* Cost of probes in ticks: batches of n and 2n rounds, in turns -> entries of field 0. */
#ifndef NSP_CALIBRATE_TIME_H
#define NSP_CALIBRATE_TIME_H

#include "calibrate_run.h"

/*
 * Runs turn `turn` of the CPU that the thread is bound to; the first turn determines how many
 * batches the time allows.
 */
void nsp_time_turn(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu, uint32_t turn);

/* Adds the entries of all its turns. */
void nsp_time_entries(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu);

#endif /* NSP_CALIBRATE_TIME_H */
