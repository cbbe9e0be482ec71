// SPDX-License-Identifier: MIT
// refusal: why a rule is not converted.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace snort2sids
{
// Thrown when a rule cannot be converted exactly.
class Refusal : public std::runtime_error
{
public:
    // `reason` is the same for all rules that are counted together; `detail` is of this rule.
    Refusal(size_t offset, std::string reason, const std::string &detail = {})
        : std::runtime_error(detail.empty() ? reason : reason + ": " + detail),
          reason(std::move(reason)), offset(offset)
    {
    }

    std::string reason;
    size_t offset; // in the rule's text
};
} // namespace snort2sids
