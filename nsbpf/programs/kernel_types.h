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

struct thread_info {
	__u32 status;	     /* x86 */
	unsigned long flags;
};

struct inode {
	__u16 i_mode;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct return_instance {
	unsigned long stack; /* place of the return address */
};

struct uprobe_task {
	unsigned int depth;			  /* returns that are trapped */
	struct return_instance *return_instances; /* the last call's first */
};

struct task_struct {
	struct thread_info thread_info;
	struct files_struct *files;
	struct uprobe_task *utask;
	int pid;
	int tgid;
};

struct sock_common {
	__u16 skc_family;
	__u16 skc_num;	 /* own port */
	__u16 skc_dport; /* the other's, in network order */
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

struct socket {
	struct sock *sk;
};

/* arm64 */
struct user_pt_regs {
	__u64 regs[31];
};

struct pt_regs {
	unsigned long di, si;  /* x86 */
	unsigned long orig_x0; /* arm64 */
	unsigned long sp;
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
