// SPDX-License-Identifier: MIT
// Replacement without Vectorscan: regular expressions are unavailable.
#include "match/errors.hpp"
#include "regular_expression.hpp"

namespace mapi::match
{
std::unique_ptr<RegularExpression> RegularExpression::compile(const std::string &)
{
    throw PatternError(PatternFault::kInvalid, "unavailable: built without Vectorscan");
}
} // namespace mapi::match
