/* SPDX-License-Identifier: MIT */
/* Memory that a program may still take, by the kernel's word. */
#ifndef NSP_MEMORY_H
#define NSP_MEMORY_H

#include <stdint.h>

/* The smaller of what the machine and the control group have left; UINT64_MAX where neither tells. */
uint64_t nsp_available_memory_bytes(void);

#endif /* NSP_MEMORY_H */
