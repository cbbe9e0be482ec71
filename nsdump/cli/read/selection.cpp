// SPDX-License-Identifier: MIT
// cli: a name or CPU that the user asked for -> is it in the trace at all?
#include "cli/read/selection.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "analyse/incomplete.hpp"
#include "common/command/output.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kMostNames = 20;

// The missing name may have been in a damaged part, which is reported when the trace is read.
bool may_lack_names(TraceFile &trace)
{
    return trace.damage().chunks() > 0 || trace.missing_chunks() > 0 ||
           incomplete_so_far(trace).any();
}

} // namespace

std::string listed(std::span<const std::string> all)
{
    if (all.empty())
        return "none";
    const auto first = all.first(std::min(all.size(), kMostNames));
    return fmt::format(
        "{}{}", fmt::join(first, ", "),
        all.size() > kMostNames ? fmt::format(" and {} more", all.size() - kMostNames) : "");
}

void check_slice(TraceFile &trace, const std::string &name)
{
    if (name.empty() || name[0] == '#' || may_lack_names(trace))
        return;
    std::vector<std::string> names;
    for (NameId id = 0; id < trace.names().size(); ++id) {
        if (trace.names()[id].text == name)
            return;
        names.push_back(printable(trace.names()[id].text));
    }
    throw command::UsageError(fmt::format("{}: unknown name \"{}\"; available: {}",
                                          trace.source().name(), printable(name), listed(names)));
}

void check_cpu(TraceFile &trace, const std::optional<uint32_t> &cpu)
{
    if (!cpu || may_lack_names(trace))
        return;
    std::vector<std::string> numbers;
    for (const CpuChunks &chunks : trace.cpus()) {
        if (chunks.cpu == *cpu)
            return;
        numbers.push_back(std::to_string(chunks.cpu));
    }
    throw command::UsageError(fmt::format("{}: no records of CPU {}; available: {}",
                                          trace.source().name(), *cpu, listed(numbers)));
}
} // namespace nsdump
