/* SPDX-License-Identifier: MIT */
/* /proc/cpuinfo: name of a field -> its first value. */
#ifndef NSP_CPUINFO_H
#define NSP_CPUINFO_H

#include <stddef.h>

/* 1: found, truncated to `room`; 0: missing. */
int nsp_cpuinfo(const char *name, char *value, size_t room);

#endif /* NSP_CPUINFO_H */
