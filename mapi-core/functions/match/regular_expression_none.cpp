// SPDX-License-Identifier: MIT
// Stands in where Vectorscan is missing: there is nothing to search with.
#include "errors.hpp"
#include "regular_expression.hpp"

namespace mapi::match
{
std::unique_ptr<RegularExpression> RegularExpression::compile(const std::string &)
{
    throw PatternError(PatternFault::kInvalid, "unavailable: built without Vectorscan");
}
} // namespace mapi::match
