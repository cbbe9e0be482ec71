/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Functions of a program -> records of their entry and return, by uprobes.  The cookie of each
 * attachment is the second word of its records without the thread.
 */
__u32 nsbpf_functions_are_on;
/* Calls without records, since the kernel would not trap their return. */
__u64 nsbpf_too_deep;
__u64 nsbpf_traps_left; /* because calls that were left by longjmp() have the thread's traps */

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

/*
 * The kernel drops the traps of calls that were left when it traps the next return, and not before:
 * a thread that has all its traps in such calls gets no other.
 */
static __always_inline bool nsbpf_is_return_trapped(struct pt_regs *registers)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const struct uprobe_task *state = BPF_CORE_READ(task, utask);

	if (!state || BPF_CORE_READ(state, depth) < NSBPF_MOST_RETURNS)
		return true;
	if (BPF_CORE_READ(state, return_instances, stack) < registers->sp)
		__sync_fetch_and_add(&nsbpf_traps_left, 1);
	else
		__sync_fetch_and_add(&nsbpf_too_deep, 1);
	return false;
}

SEC("uprobe")
int function_entry(struct pt_regs *registers)
{
	if (!nsbpf_functions_are_on || !nsbpf_is_return_trapped(registers))
		return 0;
	return nsbpf_write_function(registers);
}

SEC("uretprobe")
int function_return(struct pt_regs *registers)
{
	return nsbpf_functions_are_on ? nsbpf_write_function(registers) : 0;
}
