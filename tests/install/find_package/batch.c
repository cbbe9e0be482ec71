/* SPDX-License-Identifier: MIT */
/* install test: options of a session -> 1000 units with one slice each, and a check of the
   library's count. */
#include <nsprobe/probe.h>

#include <stdio.h>

enum { UNITS = 1000, RECORDS_A_UNIT = 4 };

#ifdef NETSLICE_DISABLE
static int check(void)
{
    return 0;
}
#else
static int check(void)
{
    struct nsp_session_counts counts;
    unsigned long long lost = 0;

    if (nsp_session_close(&counts) != 0) {
        fprintf(stderr, "close: %s\n", nsp_last_error());
        return 1;
    }
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        lost += counts.lost[cause];
    printf("issued %llu, drained %llu, lost %llu\n", (unsigned long long)counts.issued,
           (unsigned long long)counts.drained, lost);
    return counts.issued != UNITS * RECORDS_A_UNIT || counts.drained + lost != counts.issued;
}
#endif

int main(int argc, char **argv)
{
    volatile unsigned sum = 0;

    if (argc != 2)
        return 2;
    (void)argv; /* a probe that is compiled out evaluates no argument */
    NET_SLICE_CONF(argv[1]);
    for (unsigned number = 0; number < UNITS; ++number) {
        NET_SLICE_INIT(batch, number, 1, 64);
        NET_SLICE_START(work);
        for (unsigned step = 0; step < 100; ++step)
            sum += step;
        NET_SLICE_STOP(work);
        NET_SLICE_EXIT(batch);
    }
    return sum == 0 || check();
}
