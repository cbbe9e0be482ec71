// SPDX-License-Identifier: MIT
// option_table: the options of Snort 2, and what becomes of each.
#pragma once

#include <string_view>
#include <vector>

namespace snort2sids
{
enum class Becomes {
    kMatch,    // a match option with the same name
    kContent,  // a content, perhaps with modifiers after commas
    kModifier, // a match option that changes the content before it
    kPcre,
    kText,    // msg
    kCarried, // an option of the rule with the same meaning
    kId,      // sid
    kFlow,
    kFlowbits,
    kThreshold,
    kNote,   // nothing: the rule matches the same packets; `remark` says what is not done
    kRefused // `remark` says why
};

struct OptionKind {
    std::string_view name;
    Becomes becomes;
    const char *pattern;     // of the whole value, a regular expression; nullptr: no value
    std::string_view remark; // for kNote and kRefused
};

// nullptr if Snort 2 has no such option.
const OptionKind *find_option(std::string_view name);
const std::vector<OptionKind> &all_options();
} // namespace snort2sids
