// SPDX-License-Identifier: GPL-2.0
/*
 * Slices whose instructions are known: a loop of n subtractions and branches,
 * n from 10 to 1,000,000, 0 to 8 slices deep, in process, softirq and hard
 * interrupt context.  Each is announced by a mark: context << 56 | depth << 48 |
 * the loop's instructions.  Loading it runs them all.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/module.h>

#include <nslice/kernel.h>

/*
 * 1 + 2 * n instructions.  n stays in its register, so the compiler adds nothing between two
 * statements.
 */
#define WORK \
    asm volatile("mov x9, %0\n\t1: subs x9, x9, #1\n\tb.ne 1b" : : "r"(n) : "x9", "cc", "memory")
#define WORK_INSTRUCTIONS(n) (1 + 2 * (n))

#define INSIDE(name_, ...)      \
    do {                        \
        NET_SLICE_START(name_); \
        __VA_ARGS__;            \
        NET_SLICE_STOP(name_);  \
    } while (0)
#define DEPTH_0 INSIDE(exact_0, WORK)
#define DEPTH_1 INSIDE(exact_1, DEPTH_0)
#define DEPTH_2 INSIDE(exact_2, DEPTH_1)
#define DEPTH_3 INSIDE(exact_3, DEPTH_2)
#define DEPTH_4 INSIDE(exact_4, DEPTH_3)
#define DEPTH_5 INSIDE(exact_5, DEPTH_4)
#define DEPTH_6 INSIDE(exact_6, DEPTH_5)
#define DEPTH_7 INSIDE(exact_7, DEPTH_6)
#define DEPTH_8 INSIDE(exact_8, DEPTH_7)

#define FUNCTION(number_)                       \
    static noinline void depth_##number_(u64 n) \
    {                                           \
        DEPTH_##number_;                        \
    }
FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)

/* Other probes inside a slice. */
static noinline void depth_9(u64 n)
{
    NET_SLICE_START(exact_mixed);
    NET_SLICE_MARK(exact_mark, n);
    WORK;
    NET_SLICE_INIT(exact_unit, n, n, n);
    NET_SLICE_EXIT(exact_unit);
    NET_SLICE_STOP(exact_mixed);
}

static void (*const slices[])(u64 n) = {depth_0, depth_1, depth_2, depth_3, depth_4,
                                        depth_5, depth_6, depth_7, depth_8, depth_9};
static const u64 loops[] = {10, 33, 100, 1000, 10000, 100000, 1000000};

static unsigned int sizes = ARRAY_SIZE(loops);
module_param(sizes, uint, 0);
MODULE_PARM_DESC(sizes, "number of loop lengths, shortest first");

enum context { PROCESS = 1, SOFTIRQ, HARDIRQ };

/* What runs next, and how it signals completion. */
static struct {
    enum context context;
    u32 depth;
    u64 n;
    u32 done;
} now;

/* Without interruption, because an interrupt's instructions would be counted, too. */
static void run_slices(void)
{
    unsigned long flags;

    local_irq_save(flags);
    NET_SLICE_MARK(exact_case,
                   (u64)now.context << 56 | (u64)now.depth << 48 | WORK_INSTRUCTIONS(now.n));
    slices[now.depth](now.n);
    local_irq_restore(flags);
    WRITE_ONCE(now.done, 1);
}

static void in_softirq_context(struct tasklet_struct *tasklet)
{
    WARN_ON(!in_serving_softirq());
    run_slices();
}
static DECLARE_TASKLET(tasklet, in_softirq_context);

static void in_interrupt_context(struct irq_work *work)
{
    WARN_ON(!in_hardirq());
    run_slices();
}
static DEFINE_IRQ_WORK(interrupt, in_interrupt_context);

static void start(enum context context)
{
    if (context == SOFTIRQ)
        tasklet_schedule(&tasklet);
    else if (context == HARDIRQ)
        irq_work_queue(&interrupt);
    else
        run_slices();
}

static int __init exact_init(void)
{
    u32 depth, i;

    for (now.context = PROCESS; now.context <= HARDIRQ; ++now.context)
        for (depth = 0; depth < ARRAY_SIZE(slices); ++depth)
            for (i = 0; i < min_t(u32, sizes, ARRAY_SIZE(loops)); ++i) {
                now.depth = depth;
                now.n = loops[i];
                now.done = 0;
                start(now.context);
                while (!READ_ONCE(now.done))
                    usleep_range(100, 200);
                usleep_range(2000, 3000); /* the smallest ring is drained */
            }
    return 0;
}

static void __exit exact_exit(void)
{
    tasklet_kill(&tasklet);
    irq_work_sync(&interrupt);
}

module_init(exact_init);
module_exit(exact_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("NetSlice's test of exact kernel slices");
