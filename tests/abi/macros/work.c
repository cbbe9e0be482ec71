/* SPDX-License-Identifier: MIT */
/* Probes in strict C11, as statements wherever a statement is allowed; 9 records. */
#include <nsprobe/probe.h>

int work_in_c(int n);

int work_in_c(int n)
{
    static struct nsp_slice *named;

    if (!named)
        named = NET_SLICE_CREATE("named in C");
    NET_SLICE_INIT(unit, n, 1, 64);
    if (n >= 0)
        NET_SLICE_START(branch);
    else
        NET_SLICE_MARK(never, n);
    for (int i = 0; i < 2; ++i)
        NET_SLICE_MARK(round, i);
    switch (n & 1) {
    case 0: NET_SLICE_MARK(even, n); break;
    default: NET_SLICE_MARK(odd, n);
    }
    NET_SLICE_STOP(branch);
    NET_SLICE_START_AT(named);
    NET_SLICE_STOP_AT(named);
    NET_SLICE_EXIT(unit);
    return n;
}
