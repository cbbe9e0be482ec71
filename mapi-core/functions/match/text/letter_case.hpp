// SPDX-License-Identifier: MIT
// Letter case: whether a search distinguishes upper and lower case in ASCII.
#pragma once

#include <cstdint>

namespace mapi::match
{
enum class LetterCase : uint8_t { kExact, kIgnored };
} // namespace mapi::match
