/* SPDX-License-Identifier: MIT */
/* install test: 1000 slices without session code; the session is opened by the environment. */
#include <nsprobe/probe.h>

int main(void)
{
    volatile unsigned sum = 0;

    for (unsigned number = 0; number < 1000; ++number) {
        NET_SLICE_START(work);
        sum += number;
        NET_SLICE_STOP(work);
    }
    return sum == 0;
}
