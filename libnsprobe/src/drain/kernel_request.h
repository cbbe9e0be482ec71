/* SPDX-License-Identifier: MIT */
/* Wish for the kernel's records -> the module's recorder, or why not. */
#ifndef NSP_KERNEL_REQUEST_H
#define NSP_KERNEL_REQUEST_H

#include <stdint.h>

#include <nsprobe/recorder.h>

/* clock: enum nsp_clock_mode; full: enum nslice_ring_full.  A descriptor that gives chunks, or -errno with words. */
int nsp_kernel_request(const struct nsp_kernel_config *config, uint32_t clock, uint32_t full);

#endif /* NSP_KERNEL_REQUEST_H */
