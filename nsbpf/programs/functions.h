/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Functions of a program -> records of their entry and return, by uprobes.  The cookie of each
 * attachment is the second word of its records without the thread.
 */
__u32 nsbpf_functions_are_on;
__u64 nsbpf_too_deep; /* calls without records: the kernel would not trap their return */

#define NSBPF_MOST_RETURNS 64 /* of one thread that the kernel traps: MAX_URETPROBE_DEPTH */

static __always_inline int nsbpf_write_function(void *registers)
{
	struct nslice_ring_meta *ring;

	ring = nslice_bpf_own_ring(&nsbpf_rings);
	if (ring)
		nslice_bpf_put(ring, nsbpf_ring_mask,
			       bpf_get_attach_cookie(registers) |
				       (__u32)bpf_get_current_pid_tgid(),
			       NULL, 0);
	return 0;
}

static __always_inline int nsbpf_is_too_deep(void)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const struct uprobe_task *state = BPF_CORE_READ(task, utask);

	return state && BPF_CORE_READ(state, depth) >= NSBPF_MOST_RETURNS;
}

SEC("uprobe")
int function_entry(struct pt_regs *registers)
{
	if (!nsbpf_functions_are_on)
		return 0;
	if (nsbpf_is_too_deep()) {
		__sync_fetch_and_add(&nsbpf_too_deep, 1);
		return 0;
	}
	return nsbpf_write_function(registers);
}

SEC("uretprobe")
int function_return(struct pt_regs *registers)
{
	return nsbpf_functions_are_on ? nsbpf_write_function(registers) : 0;
}
