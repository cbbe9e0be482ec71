/* SPDX-License-Identifier: MIT */
/* The kernel module's device, as this library uses it (nslice/control.h). */
#ifndef NSP_MODULE_H
#define NSP_MODULE_H

#include <stdint.h>

/*
 * Opens the device and checks its version.  Returns a descriptor, or -errno with the reason in
 * nsp_last_error().  -ENODEV: no module; -EACCES: permission denied; -EPROTO: version mismatch.
 */
int nsp_module_open(void);

/*
 * Creates a session's memory in the module: *fd, to be mapped and passed on like a memory file, and
 * the number of CPUs with rings.  Returns 0 or -errno.
 */
int nsp_module_session(uint64_t ring_bytes, uint32_t flags, int *fd, uint32_t *cpus);

/* Whether a descriptor belongs to the module. */
int nsp_module_has(int fd);

/* Ends the session of this descriptor in order. */
void nsp_module_end(int fd);

#endif /* NSP_MODULE_H */
