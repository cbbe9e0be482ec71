/* SPDX-License-Identifier: MIT */
/* Memory that a program may still allocate, as reported by the kernel. */
#ifndef NSP_MEMORY_H
#define NSP_MEMORY_H

#include <stdint.h>

/*
 * The smaller of what the machine and the control group have left; UINT64_MAX if neither is known.
 */
uint64_t nsp_available_memory_bytes(void);

#endif /* NSP_MEMORY_H */
