// SPDX-License-Identifier: GPL-2.0
/* One probe on every CPU at the same time: while one CPU uses it for the first time, the others
 * already write its records. */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>

#include <nslice/kernel.h>

static DEFINE_PER_CPU(struct work_struct, works);

static void meet(struct work_struct *work)
{
    u32 i;

    for (i = 0; i < 200; ++i) {
        NET_SLICE_MARK(met, i);
        usleep_range(100, 200);
    }
}

static int __init meet_init(void)
{
    int cpu;

    cpus_read_lock();
    for_each_online_cpu(cpu)
    {
        INIT_WORK(per_cpu_ptr(&works, cpu), meet);
        schedule_work_on(cpu, per_cpu_ptr(&works, cpu));
    }
    for_each_online_cpu(cpu) flush_work(per_cpu_ptr(&works, cpu));
    cpus_read_unlock();
    return 0;
}

static void __exit meet_exit(void) {}

module_init(meet_init);
module_exit(meet_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("NetSlice's test of a probe that several CPUs meet at once");
