/* SPDX-License-Identifier: MIT */
/* Request for kernel records -> the module's recorder, or an error. */
#ifndef NSP_KERNEL_REQUEST_H
#define NSP_KERNEL_REQUEST_H

#include <stdint.h>

#include <nsprobe/recorder.h>

/*
 * clock: enum nsp_clock_mode; full: enum nslice_ring_full.  Returns a descriptor that yields
 * chunks, or -errno with the reason in nsp_last_error().
 */
int nsp_kernel_request(const struct nsp_kernel_config *config, uint32_t clock, uint32_t full);

/* New rules for such a recorder.  Returns 0 or -errno. */
int nsp_kernel_select(int fd, const char *rules);

#endif /* NSP_KERNEL_REQUEST_H */
