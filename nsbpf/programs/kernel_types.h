/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The members of the kernel's types that the programs use.  Their offsets are those of the running
 * kernel: the loader adjusts each access (CO-RE).
 */
#ifndef NSBPF_KERNEL_TYPES_H
#define NSBPF_KERNEL_TYPES_H

#include <linux/types.h>
#include <linux/bpf.h>

#include <stdbool.h>
#include <stddef.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
	int pid;
	int tgid;
};

struct sk_buff {
	unsigned int len;
	__u16 protocol;
	__u16 network_header;
	__u16 mac_header;
	unsigned char *head;
	unsigned char *data;
};

#pragma clang attribute pop

#endif /* NSBPF_KERNEL_TYPES_H */
