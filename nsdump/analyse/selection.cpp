// SPDX-License-Identifier: MIT
// analyse: patterns of a session's rules, and the names in the trace -> warnings.
#include "analyse/selection.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <nslice/rules.h>

#include "decode/names.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kMostNames = 20;

bool is_of_kernel(const std::string &name)
{
    return name.starts_with(kKernelPrefix);
}

// The name as its site has it.
const char *own_name(const std::string &name)
{
    return name.c_str() + (is_of_kernel(name) ? std::strlen(kKernelPrefix) : 0);
}

std::vector<std::string> selectable_names(const NameTable &names, bool with_kernel)
{
    std::vector<std::string> found;
    for (NameId id = 0; id < names.size(); ++id)
        if (names[id].is_slice_or_mark() && (with_kernel || !is_of_kernel(names[id].text)))
            found.push_back(names[id].text);
    std::sort(found.begin(), found.end());
    return found;
}

std::string listed(const std::vector<std::string> &names)
{
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMostNames)
        text += fmt::format(" and {} more", names.size() - kMostNames);
    return text.empty() ? "none" : text;
}

void warn_of_unmatched(const std::string &rules, const std::vector<std::string> &names,
                       std::vector<std::string> &warnings)
{
    nslice_rule rule{};
    for (const char *at = rules.c_str(); nslice_rules_next(at, &rule); at = rule.rest) {
        const bool is_matched = std::any_of(names.begin(), names.end(), [&](const auto &name) {
            return nslice_rule_matches(&rule, own_name(name), is_of_kernel(name)) != 0;
        });
        if (!is_matched)
            warnings.push_back(fmt::format("slices: no slice or mark matches \"{}\"; available: {}",
                                           std::string(at, rule.end), listed(names)));
    }
}

// Interrupts and switches that were off cannot be subtracted from the programs' slices.
void warn_of_unsubtracted(const std::string &rules, const NameTable &names,
                          std::vector<std::string> &warnings)
{
    constexpr uint8_t kSubtracted = NSLICE_SITE_INTERRUPT | NSLICE_SITE_SWITCH;
    std::vector<std::string> off;
    bool has_programs = false;
    for (NameId id = 0; id < names.size(); ++id) {
        const Name &name = names[id];
        has_programs |= name.is_slice_or_mark() && !is_of_kernel(name.text);
        if ((name.flags & kSubtracted) != 0 && is_of_kernel(name.text) &&
            nslice_rules_select(rules.c_str(), own_name(name.text), 1) == 0)
            off.push_back(name.text);
    }
    if (has_programs && !off.empty())
        warnings.push_back(fmt::format("slices: {} not recorded: the time of these interrupts and "
                                       "switches is not subtracted (select them with "
                                       "\"kernel:*\")",
                                       listed(off)));
}
} // namespace

std::vector<std::string> selection_warnings(const TraceFile &trace)
{
    const std::string of_programs = trace.info("session.slices");
    const std::string of_kernel = trace.info("kernel.slices");
    std::vector<std::string> warnings;
    warn_of_unmatched(of_programs.empty() ? of_kernel : of_programs,
                      selectable_names(trace.names(), !of_kernel.empty()), warnings);
    warn_of_unsubtracted(of_kernel, trace.names(), warnings);
    return warnings;
}
} // namespace nsdump
