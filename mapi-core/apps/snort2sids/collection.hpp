// SPDX-License-Identifier: MIT
// collection: rules in order -> their conversions, and the reasons why some have none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "body/refusal.hpp"
#include "convert.hpp"
#include "source/rule_files.hpp"

namespace snort2sids
{
struct Result {
    Identity identity;
    Line line;
    size_t start = 0;  // of the rule in the line
    size_t header = 0; // bytes of the rule before its options
    std::variant<Conversion, Refusal> outcome;

    const Conversion *conversion() const { return std::get_if<Conversion>(&outcome); }
    const Refusal *refusal() const { return std::get_if<Refusal>(&outcome); }
};

class Collection
{
public:
    // Why sids refuses a converted rule; empty: it does not.
    using RefusalOf = std::function<std::string(const std::string &)>;

    Collection(const Settings &settings, const Variables &variables, RefusalOf refusal_of = {})
        : settings_(settings), variables_(variables), refusal_of_(std::move(refusal_of))
    {
    }

    // Throws Malformed, with an offset in the line.
    void add(const RuleLine &rule);
    const std::vector<Result> &results() const { return results_; }

private:
    Conversion convert_once(const Header &header, const RuleLine &rule,
                            const std::vector<Option> &options, Identity identity);

    const Settings &settings_;
    const Variables &variables_;
    const RefusalOf refusal_of_;
    std::vector<Result> results_;
    std::map<uint32_t, size_t> converted_; // sid -> index in results_
};
} // namespace snort2sids
