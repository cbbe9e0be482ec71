// SPDX-License-Identifier: MIT
// analyse: patterns of a session's rules, and the names in the trace -> warnings.
#include "analyse/selection.hpp"

#include <algorithm>
#include <sstream>

#include <fnmatch.h>

#include <fmt/format.h>

#include "decode/names.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kMostNames = 20;

std::vector<std::string> selectable_names(const NameTable &names)
{
    std::vector<std::string> found;
    for (NameId id = 0; id < names.size(); ++id)
        if (names[id].is_slice_or_mark() && !names[id].text.starts_with(kKernelPrefix))
            found.push_back(names[id].text);
    std::sort(found.begin(), found.end());
    return found;
}

std::string available(const std::vector<std::string> &names)
{
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMostNames)
        text += fmt::format(" and {} more", names.size() - kMostNames);
    return text.empty() ? "none" : text;
}
} // namespace

std::vector<std::string> unmatched_patterns(const TraceFile &trace)
{
    const std::vector<std::string> names = selectable_names(trace.names());
    std::vector<std::string> warnings;
    std::istringstream rules(trace.info("session.slices"));
    for (std::string pattern; std::getline(rules, pattern, ',');) {
        const std::string text = pattern.substr(pattern.starts_with('!'));
        const bool is_matched = std::any_of(names.begin(), names.end(), [&](const auto &name) {
            return fnmatch(text.c_str(), name.c_str(), 0) == 0;
        });
        if (!is_matched)
            warnings.push_back(fmt::format("slices: no slice or mark matches \"{}\"; available: {}",
                                           pattern, available(names)));
    }
    return warnings;
}
} // namespace nsdump
