// SPDX-License-Identifier: MIT
// LTTng-UST: an event into the ring of the CPU, read by a consumer daemon.  lttng_ust.py starts the
// daemons, opens the session and counts the events in the trace.
#include "rounds.hpp"

#include <lttng/ust-version.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_ust_event.h"

int main(int argc, char **argv)
{
    const rival::Plan plan = rival::plan_of(argc, argv);
    if (!lttng_ust_tracepoint_enabled(rival, event)) {
        std::fprintf(stderr, "no LTTng session traces rival:event\n");
        return 1;
    }
    const rival::Cost cost = rival::measure(plan, [] { lttng_ust_tracepoint(rival, event); });
    rival::print({"rival_lttng_ust_ns", "LTTng-UST", "its own cost; counts discarded events",
                  "version " + std::to_string(LTTNG_UST_MAJOR_VERSION) + "." +
                      std::to_string(LTTNG_UST_MINOR_VERSION) +
                      ", session and channel with their defaults, trace on tmpfs"},
                 cost);
    return 0;
}
