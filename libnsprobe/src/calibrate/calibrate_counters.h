/* SPDX-License-Identifier: MIT */
/* Cost of probes in counters: batches of probes -> entries of fields 1 and up. */
#ifndef NSP_CALIBRATE_COUNTERS_H
#define NSP_CALIBRATE_COUNTERS_H

#include "calibrate_run.h"

/* Adds the entries of all counters on the CPU that the thread is bound to. */
void nsp_calibrate_counters(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu);

#endif /* NSP_CALIBRATE_COUNTERS_H */
