/* SPDX-License-Identifier: MIT */
/* options -> a trace of 200 units with an empty slice inside a full one, for nscalibrate_test.py.
 */
#include <nsprobe/probe.h>
#include <nsprobe/session.h>

int main(int argc, char **argv)
{
    if (argc != 2 || nsp_session_conf(argv[1]))
        return 1;
    for (int number = 0; number < 200; ++number) {
        NET_SLICE_INIT(unit, number, 1, 64);
        NET_SLICE_START(whole);
        NET_SLICE_START(empty);
        NET_SLICE_STOP(empty);
        NET_SLICE_STOP(whole);
        NET_SLICE_EXIT(unit);
    }
    return 0;
}
