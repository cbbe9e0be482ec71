/* SPDX-License-Identifier: MIT */
/* /proc/cpuinfo: name of a field -> its first value; the name that a hypervisor has in cpuid -> its
 * word. */
#ifndef NSP_CPUINFO_H
#define NSP_CPUINFO_H

#include <stddef.h>

/* 1: found, truncated to `room`; 0: missing. */
int nsp_cpuinfo(const char *name, char *value, size_t room);

/*
 * A word and nothing but copies of it -> one of them: hypervisors fill the 12 bytes that cpuid has
 * for their name, KVM with KVMKVMKVM, Xen with XenVMMXenVMM.  Spaces at the end are removed.
 */
void nsp_shorten_repeated_name(char *text);

#endif /* NSP_CPUINFO_H */
