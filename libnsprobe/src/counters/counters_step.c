/* SPDX-License-Identifier: MIT */
/* Counter source `step`: a trap for every instruction -> exact count. */
#include <errno.h>
#include <string.h>

#include "counters.h"
#include "session/error.h"
#include "step_trap.h"
#include "writer/thread.h"

uint32_t nsp_step_every = 1;
NSP_THREAD_LOCAL int nsp_step_calibrating;
NSP_THREAD_LOCAL int nsp_step_keep_skip;

static int step_open(const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        if (strcmp(names[i], "instructions") != 0)
            return nsp_fail(-ENOTSUP,
                            "counter \"%s\": source step counts only \"instructions\"; other "
                            "counters require a "
                            "PMU (source rdpmc or perf-read)",
                            names[i]);
    return nsp_step_catch_traps();
}

static int step_thread_begin(void)
{
    nsp_thread.stepped = 0;
    /* Slices left open by an older session do not count; the START in progress does. */
    if (!nsp_step_calibrating && nsp_thread.step_depth > 0) {
        nsp_thread.step_names[0] =
            nsp_thread.step_names[(nsp_thread.step_depth - 1) % NSP_STEP_NAMES];
        nsp_thread.step_depth = 1;
    }
    return 0;
}

const struct nsp_counter_ops nsp_source_step = {
    .name = "step",
    .open = step_open,
    .thread_begin = step_thread_begin,
    .read = nsp_step_read,
};
