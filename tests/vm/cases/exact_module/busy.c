// SPDX-License-Identifier: GPL-2.0
/* Holds four event counters of CPU 0, as another user of the PMU would. */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>

static struct perf_event *events[4];

static void release(void)
{
    u32 i;

    for (i = 0; i < ARRAY_SIZE(events) && events[i]; ++i)
        perf_event_release_kernel(events[i]);
}

static int __init busy_init(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .size = sizeof(attr),
        .pinned = 1,
    };
    u32 i;

    for (i = 0; i < ARRAY_SIZE(events); ++i) {
        struct perf_event *event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);

        if (IS_ERR(event)) {
            release();
            return PTR_ERR(event);
        }
        events[i] = event;
    }
    return 0;
}

static void __exit busy_exit(void)
{
    release();
}

module_init(busy_init);
module_exit(busy_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("NetSlice's test of a PMU that is busy");
