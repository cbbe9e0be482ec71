// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <cstdlib>

#include "figure.hpp"
#include "machine.hpp"

namespace rival
{
namespace
{
nlohmann::ordered_json raw(const Rival &rival, const Cost &cost, double per_ns)
{
    return {{"batch", cost.batch},
            {"batch_means", cost.event.size()},
            {"event_ns_p10", bench::quantile(cost.event, 0.1) / per_ns},
            {"event_ns_p90", bench::quantile(cost.event, 0.9) / per_ns},
            {"event_ns_2n_less_n", bench::median(cost.event_2n_less_n) / per_ns},
            {"events_per_call", rival.events_per_call},
            {"rdtsc_ticks", bench::median(cost.clock)},
            {"empty_loop_ticks", bench::median(cost.empty)},
            {"bare_loop_ticks", bench::median(cost.bare)},
            {"issued", cost.calls * uint64_t(rival.events_per_call)}};
}
} // namespace

// The columns of a row appear in this order in the table.
void print(const Rival &rival, const Cost &cost, std::optional<uint64_t> arrived)
{
    const double per_ns = bench::ticks_per_ns() * rival.events_per_call;
    const double event = bench::median(cost.event);
    nlohmann::ordered_json line = {{"figure", rival.figure},
                                   {"value", event / per_ns},
                                   {"unit", "ns/event"},
                                   {"raw", raw(rival, cost, per_ns)},
                                   {"note", rival.note}};
    line["row"] = {{"rival", rival.name},
                   {"x rdtsc", event / rival.events_per_call / bench::median(cost.clock)},
                   {"lost", "-"},
                   {"of", "-"},
                   {"left", rival.left}};
    if (arrived) {
        const uint64_t issued = line["raw"]["issued"];
        line["raw"]["arrived"] = *arrived;
        line["row"]["lost"] = int64_t(issued - *arrived);
        line["row"]["of"] = issued;
    }
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
}

void print_skipped(const std::string &figure, const std::string &reason)
{
    bench::print_skipped(figure, reason);
}

void skip(const std::string &reason)
{
    std::fprintf(stderr, "%s\n", reason.c_str());
    std::exit(77);
}
} // namespace rival
