/* SPDX-License-Identifier: MIT */
/* The kernel module's device, as this library uses it (nslice/control.h). */
#ifndef NSP_MODULE_H
#define NSP_MODULE_H

#include <stdint.h>

/*
 * The device, checked for its version.  A descriptor, or -errno with words:
 * -ENODEV no module, -EACCES not for this user, -EPROTO a module of another version.
 */
int nsp_module_open(void);

/* Makes a session's memory in the module: *fd, to be mapped and passed on as a memory file is, and the CPUs that have rings.  0 or -errno. */
int nsp_module_session(uint64_t ring_bytes, uint32_t flags, int *fd, uint32_t *cpus);

/* Whether a descriptor is a session of the module. */
int nsp_module_has(int fd);

/* The session on this descriptor ends in order. */
void nsp_module_end(int fd);

#endif /* NSP_MODULE_H */
