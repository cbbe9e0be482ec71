// SPDX-License-Identifier: MIT
// PAPI_read of a running event set with instructions and cycles.
#include "rounds.hpp"

#include <papi.h>

namespace
{
void must(int status, const char *what)
{
    if (status != PAPI_OK)
        rival::skip(std::string(what) + ": " + PAPI_strerror(status) + "; PAPI needs a PMU");
}
} // namespace

int main(int argc, char **argv)
{
    const rival::Plan plan = rival::plan_of(argc, argv);
    const int version = PAPI_library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT)
        rival::skip("PAPI_library_init gives " + std::to_string(version) +
                    ": header and library differ, or no PMU");
    int set = PAPI_NULL;
    must(PAPI_create_eventset(&set), "PAPI_create_eventset");
    must(PAPI_add_event(set, PAPI_TOT_INS), "PAPI_TOT_INS");
    must(PAPI_add_event(set, PAPI_TOT_CYC), "PAPI_TOT_CYC");
    must(PAPI_start(set), "PAPI_start");
    long long values[2];
    const rival::Cost cost = rival::measure(plan, [&] {
        if (PAPI_read(set, values) != PAPI_OK)
            std::abort();
    });
    rival::print({"rival_papi_read_ns", "PAPI_read, 2 counters",
                  "its own cost (papi_cost reports it); storage",
                  "PAPI_TOT_INS and PAPI_TOT_CYC, PAPI " +
                      std::to_string(PAPI_VERSION_MAJOR(PAPI_VERSION)) + "." +
                      std::to_string(PAPI_VERSION_MINOR(PAPI_VERSION))},
                 cost);
    return 0;
}
