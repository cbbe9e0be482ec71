/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Arguments of a system call; a descriptor of the running thread -> its open file. */
#ifndef NSBPF_DESCRIPTORS_H
#define NSBPF_DESCRIPTORS_H

#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* The first (0) or second (1). */
static __always_inline __u64 nsbpf_argument(const struct pt_regs *regs, int number)
{
#ifdef __TARGET_ARCH_x86
	return number ? BPF_CORE_READ(regs, si) : BPF_CORE_READ(regs, di);
#else
	const struct user_pt_regs *user = (const void *)regs;

	return number ? BPF_CORE_READ(user, regs[1]) : BPF_CORE_READ(regs, orig_x0);
#endif
}

/*
 * NULL: none.  Another thread may close it meanwhile: then what is read from the file may be wrong.
 */
static __always_inline struct file *nsbpf_file_of(__u32 descriptor)
{
	const struct task_struct *thread = (void *)bpf_get_current_task();
	const struct fdtable *table = BPF_CORE_READ(thread, files, fdt);
	struct file **place, *file = NULL;

	if (descriptor >= BPF_CORE_READ(table, max_fds))
		return NULL;
	place = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), place + descriptor);
	return file;
}

#endif /* NSBPF_DESCRIPTORS_H */
