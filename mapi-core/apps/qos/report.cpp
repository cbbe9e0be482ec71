// SPDX-License-Identifier: MIT
// report: load, analyse, print.
#include "qos/report.hpp"

#include <algorithm>
#include <cmath>

#include "common/command/output.hpp"
#include "common/command/tell.hpp"
#include "qos/analyse/analyse.hpp"
#include "qos/analyse/load.hpp"
#include "qos/output/output.hpp"

namespace qos
{
namespace
{
// 0 stands for no limit, and only for that.
int64_t ns_of(double seconds)
{
    const auto ns = int64_t(std::llround(seconds * 1e9));
    return seconds > 0 ? std::max<int64_t>(ns, 1) : 0;
}

std::string print(const Figures &figures, const ReportOptions &options)
{
    if (options.format == "json")
        return json_of(figures, options.flows);
    if (options.format == "csv")
        return csv_of(figures, options.flows);
    if (options.format == "prometheus")
        return prometheus_of(figures, options.flows);
    return text_of(figures, options.flows);
}
} // namespace

int report(const ReportOptions &options)
{
    command::check_outputs(options.store, {options.output});
    const auto store = open_store(options.store, Access::kRead);
    const Observations seen =
        load(*store, options.from, options.to, {options.below, ns_of(options.last_s)});
    AnalyseOptions how;
    how.window_ns = ns_of(options.window_s);
    how.interval_ns = ns_of(options.interval_s);
    how.is_one_way = options.is_one_way;
    how.is_all_time = options.is_all_time;
    how.clock = options.is_synchronised     ? ClockWish::kSynchronised
                : options.is_unsynchronised ? ClockWish::kUnsynchronised
                                            : ClockWish::kDetect;
    const Figures figures = analyse(seen, how);
    command::write_whole(options.output, print(figures, options));
    if (!options.is_quiet)
        for (const std::string &note : figures.notes())
            command::tell("mapi-qos: {}\n", note);
    return figures.from.is_incomplete() || figures.to.is_incomplete() ? kExitIncomplete : kExitDone;
}
} // namespace qos
