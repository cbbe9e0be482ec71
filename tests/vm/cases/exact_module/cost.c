// SPDX-License-Identifier: GPL-2.0
/* Instructions of a probe in another module, counted by a counter that nsmod does not use: 8 pairs
 * compared with 16. */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#include <nslice/kernel.h>

#define PAIR                   \
    do {                       \
        NET_SLICE_START(cost); \
        NET_SLICE_STOP(cost);  \
    } while (0)
#define FOUR_PAIRS \
    PAIR;          \
    PAIR;          \
    PAIR;          \
    PAIR

static noinline void eight_pairs(void)
{
    FOUR_PAIRS;
    FOUR_PAIRS;
}

static noinline void sixteen_pairs(void)
{
    FOUR_PAIRS;
    FOUR_PAIRS;
    FOUR_PAIRS;
    FOUR_PAIRS;
}

/* The first event counter, which the event has if it is the only one. */
static u64 count_of(void (*function)(void))
{
    unsigned long flags;
    u64 before, after;

    local_irq_save(flags);
    asm volatile("isb\n\tmrs %0, pmevcntr0_el0" : "=r"(before) : : "memory");
    function();
    asm volatile("isb\n\tmrs %0, pmevcntr0_el0" : "=r"(after) : : "memory");
    local_irq_restore(flags);
    return (u32)(after - before);
}

static int __init cost_init(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .size = sizeof(attr),
        .pinned = 1,
    };
    struct perf_event *event =
        perf_event_create_kernel_counter(&attr, raw_smp_processor_id(), NULL, NULL, NULL);
    u64 few, many;

    if (IS_ERR(event))
        return PTR_ERR(event);
    eight_pairs(); /* registers the sites */
    sixteen_pairs();
    few = count_of(eight_pairs);
    many = count_of(sixteen_pairs);
    perf_event_release_kernel(event);
    pr_info("nsmod cost: 16 probes take %llu instructions\n", many - few);
    return 0;
}

static void __exit cost_exit(void) {}

module_init(cost_init);
module_exit(cost_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("NetSlice's test of what a kernel probe costs");
