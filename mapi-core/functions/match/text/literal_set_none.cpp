// SPDX-License-Identifier: MIT
// Replacement without Vectorscan: strings are searched one after the other.
#include "literal_set.hpp"

namespace mapi::match
{
std::shared_ptr<const LiteralSet> LiteralSet::make(const std::vector<std::string> &, LetterCase)
{
    return nullptr;
}
} // namespace mapi::match
