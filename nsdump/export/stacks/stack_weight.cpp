// SPDX-License-Identifier: MIT
// stacks: what --weight names -> the value of a slice, or why it has none.
#include "export/stacks/stack_weight.hpp"

#include <algorithm>

#include "decode/clock.hpp"

namespace nsdump
{
namespace
{
using Kind = StackWeight::Kind;

std::optional<StackWeight> counter_weight(const TraceFile &trace, const std::string &text,
                                          std::string &why)
{
    const std::string prefix = kKernelPrefix;
    StackWeight weight{.kind = Kind::counter, .is_of_kernel = text.rfind(prefix, 0) == 0};
    const std::vector<std::string> &names =
        weight.is_of_kernel ? trace.kernel_counter_names() : trace.counter_names();
    const auto found =
        std::ranges::find(names, weight.is_of_kernel ? text.substr(prefix.size()) : text);
    if (found != names.end()) {
        weight.counter = size_t(found - names.begin());
        return weight;
    }
    why = "the trace has no such counter (choose net-ticks, net-ns, raw-ns";
    for (const std::string &name : trace.counter_names())
        why += ", " + name;
    for (const std::string &name : trace.kernel_counter_names())
        why += ", " + prefix + name;
    why += ")";
    return std::nullopt;
}
} // namespace

std::string StackWeight::unit(const TraceFile &trace) const
{
    if (kind == Kind::counter)
        return is_of_kernel ? kKernelPrefix + trace.kernel_counter_names()[counter]
                            : trace.counter_names()[counter];
    return is_time() ? "ns" : "ticks";
}

std::string StackWeight::words(const TraceFile &trace) const
{
    return (kind == Kind::raw_ns ? "raw " : "net ") + unit(trace);
}

std::optional<StackWeight> stack_weight(const TraceFile &trace, const std::string &text,
                                        std::string &why)
{
    if (text == "net-ticks")
        return StackWeight{.kind = Kind::net_ticks};
    if (text != "net-ns" && text != "raw-ns")
        return counter_weight(trace, text, why);
    const Clock clock = clock_of(trace);
    if (clock.hz > 0)
        return StackWeight{.kind = text == "net-ns" ? Kind::net_ns : Kind::raw_ns,
                           .ns_per_tick = clock.ns_per_tick()};
    why = "the trace does not have the rate of its clock (choose net-ticks)";
    return std::nullopt;
}

SliceWeight weight_of(const StackWeight &weight, const Correction &correction, const Slice &slice,
                      bool is_kernel)
{
    if (weight.kind == Kind::counter) {
        if (is_kernel != weight.is_of_kernel || !slice.counters ||
            !correction.of(slice.cpu_index, weight.counter + 1).is_known)
            return {};
        return {true, net_counter_of(slice, weight.counter, correction),
                double(slice.counters[weight.counter])};
    }
    const double raw = double(slice.raw_ticks) * weight.ns_per_tick;
    if (weight.kind == Kind::raw_ns)
        return {true, raw, raw};
    if (!correction.of(slice.cpu_index, 0).is_known)
        return {};
    return {true, net_ticks_of(slice, correction) * weight.ns_per_tick, raw};
}
} // namespace nsdump
