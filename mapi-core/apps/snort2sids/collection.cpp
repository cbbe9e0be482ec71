// SPDX-License-Identifier: MIT
// collection: rules in order -> their conversions, and the reasons why some have none.
#include "collection.hpp"

#include <string_view>

#include "header/header.hpp"
#include "source/malformed.hpp"

namespace snort2sids
{
Conversion Collection::convert_once(const Header &header, const RuleLine &rule,
                                    const std::vector<Option> &options, Identity identity)
{
    Conversion conversion = convert(header, rule.action, options, settings_);
    const auto earlier = converted_.find(identity.number);
    if (earlier != converted_.end()) {
        const Result &other = results_[earlier->second];
        const bool is_same = other.identity.generator == identity.generator;
        throw Refusal(0,
                      is_same ? "a second rule with the same sid" : "a sid of two generators (gid)",
                      "the first is at " + other.line.place(other.start).name());
    }
    const std::string refusal = refusal_of_ ? refusal_of_(conversion.rule) : "";
    if (!refusal.empty())
        throw Refusal(0, "sids does not accept it", refusal);
    return conversion;
}

void Collection::add(const RuleLine &rule)
{
    const std::string_view text = std::string_view(rule.line.text).substr(rule.start);
    try {
        const Header header = read_header(text, variables_);
        const std::vector<Option> options = split_options(text, header.body);
        const Identity identity = identity_of(options);
        try {
            Conversion conversion = convert_once(header, rule, options, identity);
            converted_.emplace(identity.number, results_.size());
            results_.push_back(
                {identity, rule.line, rule.start, header.body, std::move(conversion)});
        } catch (const Refusal &refusal) {
            results_.push_back({identity, rule.line, rule.start, header.body, refusal});
        }
    } catch (const Malformed &error) {
        throw Malformed(rule.start + error.offset, error.what());
    }
}
} // namespace snort2sids
