/* SPDX-License-Identifier: MIT */
/* segments: probes in two executable segments, with data between them; options given as an argument
   open the session from code. */

#include <nsprobe/probe.h>

static volatile unsigned sum;

static __attribute__((section(".far"), noinline)) void far_work(unsigned i)
{
    NET_SLICE_START(far);
    sum += i;
    NET_SLICE_STOP(far);
}

int main(int argc, char **argv)
{
    if (argc > 1 && NET_SLICE_CONF(argv[1]))
        return 3;
    for (unsigned i = 0; i < 1000; ++i) {
        NET_SLICE_START(work);
        far_work(i);
        NET_SLICE_STOP(work);
    }
    return sum == 0;
}
