/* SPDX-License-Identifier: MIT */
/* static: a program with probes and nothing else; options given as an argument open its session
   from code. */

#include <nsprobe/probe.h>

int main(int argc, char **argv)
{
    volatile unsigned sum = 0;

    if (argc > 1 && NET_SLICE_CONF(argv[1]))
        return 3;
    for (unsigned i = 0; i < 1000; ++i) {
        NET_SLICE_START(work);
        sum += i;
        NET_SLICE_STOP(work);
    }
    return sum == 0;
}
