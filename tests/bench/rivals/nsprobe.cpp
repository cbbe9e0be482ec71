// SPDX-License-Identifier: MIT
// The probe of this project: off, on with the session's defaults, and on with two counters if there
// is a PMU.
#include "rounds.hpp"

#include <nsprobe/probe.h>

namespace
{
constexpr auto probe = [] { NET_SLICE_START(rival); };

const char *kOwnCost = "none of its own cost: subtracted, with an interval";

void measure_off(const rival::Plan &plan)
{
    rival::print(
        {"rival_nsprobe_off_ns", "NetSlice probe, off", "-", "compiled in, no session open"},
        rival::measure(plan, probe));
}

uint64_t close_and_count_lost()
{
    nsp_session_counts counts;
    nsp_session_close(&counts);
    return counts.issued - counts.drained;
}

void measure_on(const rival::Plan &plan, const std::string &output)
{
    bench::open_session("output=" + output);
    const rival::Cost cost = rival::measure(plan, probe);
    rival::print({"rival_nsprobe_ns", "NetSlice probe", kOwnCost,
                  "session with its defaults, trace file on tmpfs"},
                 cost, cost.calls - close_and_count_lost());
}

// Single-stepping is excluded: it counts exactly, but cannot time a probe.
void measure_counters(const rival::Plan &plan, const std::string &output)
{
    const char *figure = "rival_nsprobe_counters_ns";
    const std::string options = "output=" + output + " counters=instructions,cycles source=";
    std::string source = "rdpmc";
    if (nsp_session_configure((options + source).c_str()) != 0) {
        const std::string why = nsp_last_error();
        source = "perf-read";
        if (nsp_session_configure((options + source).c_str()) != 0) {
            rival::print_skipped(figure, why);
            return;
        }
    }
    const rival::Cost cost = rival::measure(plan, probe);
    rival::print({figure, "NetSlice probe, 2 counters", kOwnCost,
                  "instructions and cycles, source " + source},
                 cost, cost.calls - close_and_count_lost());
}
} // namespace

int main(int argc, char **argv)
{
    const rival::Plan plan = rival::plan_of(argc, argv);
    const bench::TmpfsFile file("netslice-rival-" + std::to_string(getpid()) + ".nsl");
    measure_off(plan);
    measure_on(plan, file.path());
    measure_counters(plan, file.path());
    return 0;
}
