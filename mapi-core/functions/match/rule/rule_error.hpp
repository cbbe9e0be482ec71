// SPDX-License-Identifier: MIT
// The place and reason of an error in a rule's options.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace mapi::match::rule
{
class RuleError : public std::runtime_error
{
public:
    RuleError(size_t at, const std::string &reason)
        : std::runtime_error("at " + std::to_string(at) + ": " + reason)
    {
    }
};
} // namespace mapi::match::rule
