/* SPDX-License-Identifier: MIT */
/* What the library's C code requires of the architecture. */
#ifndef NSP_ARCH_H
#define NSP_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include <nsprobe/detail/state.h>

/* The restartable sequence for a prepared record: see arch_*.S. */
#define NSP_PUSH_DONE 0
#define NSP_PUSH_FULL 1
#define NSP_PUSH_NO_RING 2
#define NSP_PUSH_ABORTED 3
int nsp_detail_push_rseq(struct nsp_detail_state *state, const uint64_t *record,
                         uint32_t record_words, uint32_t *cpu, const uint64_t *word,
                         uint64_t value);

/*
 * Each header defines NSP_ARCH_NAME, NSP_CLOCK_NAME, NSP_CLOCK_SOURCE, NSP_MULTIPLY,
 * NSP_USER_READ_CONFIG1, texts on what a user can do (NSP_USER_READS_SWITCH,
 * NSP_WITHOUT_PMU) and
 *	nsp_clock_read(ordered)    the clock, fenced on both sides if `ordered`
 *	nsp_clock_read_late()      not before all earlier loads are done
 *	nsp_current_cpu()          for rings without rseq
 *	nsp_syscall3/4()           a system call without the C library
 *	nsp_read_pmc(index)        hardware counter, numbered as in struct perf_event_mmap_page,
 *from 0
 *	nsp_register_reader()      how the assembly reads such a counter
 *	nsp_call_probe()           START or STOP, as from a probe
 *	nsp_thread_pointer()
 */
#if defined(__x86_64__)
#include "arch_x86_64.h"
#elif defined(__AARCH64EL__)
#include "arch_aarch64.h"
#else
#error "unsupported architecture"
#endif

/* src/writer/arch_*.S: calls function() with the vector state saved. */
void nsp_detail_call_saving_vectors(void (*function)(void));

/* One field each; see arch_*.c. */
void nsp_arch_cpu_model(char *model, size_t room);
void nsp_arch_hypervisor(char *name, size_t room); /* "none" on bare metal */
int nsp_arch_clock_is_invariant(void);

#endif /* NSP_ARCH_H */
