// SPDX-License-Identifier: (GPL-2.0 OR MIT)
/*
 * A folder of /proc, open in the caller -> the number of its process or thread in the initial pid
 * namespace, which is that of bpf_get_current_pid_tgid().  The caller asks by a system call whose
 * first argument nobody else knows.
 */
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "descriptors.h"

struct upid {
	int nr;
} __attribute__((preserve_access_index));

struct pid {
	struct upid numbers[1]; /* from the initial namespace on */
} __attribute__((preserve_access_index));

struct proc_inode {
	struct pid *pid;
	struct inode vfs_inode;
} __attribute__((preserve_access_index));

const volatile __u64 nsbpf_password = 1;
int nsbpf_identified;

SEC("tp_btf/sys_enter")
int BPF_PROG(identify, const struct pt_regs *regs)
{
	const struct proc_inode *inode;
	struct file *file;

	if (nsbpf_argument(regs, 0) != nsbpf_password)
		return 0;
	file = nsbpf_file_of((__u32)nsbpf_argument(regs, 1));
	if (!file)
		return 0;
	inode = (void *)BPF_CORE_READ(file, f_inode) -
		bpf_core_field_offset(struct proc_inode, vfs_inode);
	nsbpf_identified = BPF_CORE_READ(inode, pid, numbers[0].nr);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
