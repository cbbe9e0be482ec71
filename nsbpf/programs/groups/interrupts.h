/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* irq, softirq, sched: what takes the CPU from a program. */
SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_irq_handler_entry, int irq)
{
	nsbpf_mark(IRQ_NUMBER, irq);
	nsbpf_slice(IRQ_START);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_irq_handler_exit)
{
	nsbpf_slice(IRQ_STOP);
	return 0;
}

#ifdef __TARGET_ARCH_x86
#define NSBPF_VECTOR(vector)                          \
	SEC("tp_btf/" #vector "_entry")               \
	int BPF_PROG(irq_##vector##_entry)            \
	{                                             \
		nsbpf_slice(IRQ_##vector##_START);    \
		return 0;                             \
	}                                             \
	SEC("tp_btf/" #vector "_exit")                \
	int BPF_PROG(irq_##vector##_exit)             \
	{                                             \
		nsbpf_slice(IRQ_##vector##_STOP);     \
		return 0;                             \
	}

NSBPF_VECTOR(local_timer)
NSBPF_VECTOR(reschedule)
NSBPF_VECTOR(call_function)
NSBPF_VECTOR(call_function_single)
NSBPF_VECTOR(irq_work)
#endif

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_softirq_entry, unsigned int vector)
{
	nsbpf_mark(SOFTIRQ_VECTOR, vector);
	nsbpf_slice(SOFTIRQ_START);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_softirq_exit)
{
	nsbpf_slice(SOFTIRQ_STOP);
	return 0;
}

/* Runs in the context of the thread that leaves, whose id is in the record. */
SEC("tp_btf/sched_switch")
int BPF_PROG(sched_sched_switch, bool preempt, struct task_struct *previous,
	     struct task_struct *next)
{
	if (nsbpf_is_wanted_thread(previous->tgid, previous->pid) ||
	    nsbpf_is_wanted_thread(next->tgid, next->pid))
		nsbpf_mark_of_any(SCHED_SWITCH, (__u32)next->pid);
	return 0;
}
