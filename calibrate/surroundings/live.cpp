// SPDX-License-Identifier: MIT
// live: a watched core -> one line a second.
#include "surroundings/live.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/command/signals.h"

namespace calibrate
{
namespace
{
using Json = nlohmann::ordered_json;

constexpr int kParts = 10; // of a second, after each of which Ctrl-C is noticed

template <typename Value> Json or_null(const std::optional<Value> &value)
{
    return value ? Json(*value) : Json(nullptr);
}
} // namespace

std::string live_head(const Environment &environment)
{
    return fmt::format("CPU {}: {}, virtualised: {}, threads of its core: {}\n"
                       "{:>4} {:>7} {:>9} {:>7} {:>9} {:>6} {:>8} {:>9} {:>9}  {}\n",
                       environment.cpu, environment.machine.cpu_model,
                       environment.machine.hypervisor, environment.siblings.value_or("unknown"),
                       "s", "shared", "core GHz", "range", "stolen ms", "gaps", "ms", "longest us",
                       "preempted", "disturbed by");
}

std::string live_line(unsigned second, const Surroundings &what)
{
    const auto core_hz = what.core_hz();
    return fmt::format(
        "{:>4} {:>5.0f} % {:>9} {:>5.1f} % {:>9} {:>6} {:>8.2f} {:>10.1f} {:>9}  {}\n", second,
        what.shared_share() * 100, core_hz ? fmt::format("{:.3f}", *core_hz / 1e9) : "-",
        what.core.frequency_range * 100,
        what.steal_seconds ? fmt::format("{:.0f}", *what.steal_seconds * 1e3) : "-", what.gaps,
        what.gap_seconds * 1e3, what.longest_gap_seconds * 1e6, what.preemptions,
        fmt::join(disturbances_of(what), ", "));
}

std::string live_json(unsigned second, unsigned cpu, const Surroundings &what)
{
    const Json json = {{"second", second},
                       {"cpu", cpu},
                       {"looks", what.core.looks},
                       {"shared", what.shared_share()},
                       {"core_hz", or_null(what.core_hz())},
                       {"frequency_range", what.core.frequency_range},
                       {"steal_seconds", or_null(what.steal_seconds)},
                       {"gaps", what.gaps},
                       {"gap_seconds", what.gap_seconds},
                       {"longest_gap_seconds", what.longest_gap_seconds},
                       {"preemptions", what.preemptions},
                       {"disturbed_by", disturbances_of(what)}};
    return json.dump() + "\n";
}

void show_live(const Environment &environment, unsigned seconds, bool is_json,
               command::Output &output)
{
    CoreWatch core(environment.cpu);
    if (!is_json) {
        output.text() += live_head(environment);
        output.flush();
    }
    for (unsigned second = 1; seconds == 0 || second <= seconds; ++second) {
        for (int part = 0; part < kParts; ++part) {
            if (command_was_interrupted()) // the unfinished second would be compared with others
                return;
            core.watch(1.0 / kParts);
        }
        const Surroundings what = core.take();
        output.text() +=
            is_json ? live_json(second, environment.cpu, what) : live_line(second, what);
        output.flush();
    }
}
} // namespace calibrate
