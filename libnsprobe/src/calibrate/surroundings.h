/* SPDX-License-Identifier: MIT */
/* What happened around a calibration: shared cores, changing frequency, a CPU that was taken away.
 */
#ifndef NSP_SURROUNDINGS_H
#define NSP_SURROUNDINGS_H

#include <stddef.h>
#include <stdint.h>

#include <nsprobe/calibrate.h>
#include <nsprobe/core_look.h>

#define NSP_MAX_LOOKS 16 /* at each CPU; later ones are not taken */

struct nsp_cpu_looks {
    uint32_t count;
    struct nsp_core_look look[NSP_MAX_LOOKS];
};

struct nsp_surroundings {
    struct nsp_cpu_looks cpu[NSP_CALIBRATION_MAX_CPUS];
    uint32_t cpus;
    uint32_t repeated;        /* turns, because the CPU had been taken away */
    uint64_t preempted;       /* times that the thread lost its CPU */
    uint64_t stolen_begin_ms; /* see nsp_stolen_ms() */
};

void nsp_surroundings_begin(struct nsp_surroundings *surroundings);

/* Looks at the CPU that the thread is bound to. */
void nsp_surroundings_look(struct nsp_surroundings *surroundings, uint32_t cpu);

/* A part of a calibration: what the thread had of the CPU meanwhile. */
struct nsp_turn {
    uint64_t begin_ns, thread_begin_ns;
    uint64_t preempted_before;
};

struct nsp_turn nsp_turn_begin(void);

/*
 * Returns nonzero if the thread did not have the CPU for more than a tenth of the time: more
 * batches are then disturbed than trimming leaves out.
 */
int nsp_turn_was_taken_away(struct nsp_surroundings *surroundings, const struct nsp_turn *turn);

/* Time that a hypervisor took from all CPUs since boot; 0 if it does not report any. */
uint64_t nsp_stolen_ms(void);

/* INFO lines; empty if there was no look.  Sorts the looks. */
void nsp_surroundings_text(struct nsp_surroundings *surroundings, char *text, size_t room);

#endif /* NSP_SURROUNDINGS_H */
