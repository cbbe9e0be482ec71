/* SPDX-License-Identifier: MIT */
/* install test: 1000 slices and no word of a session, which whoever starts the program has in mind. */
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
