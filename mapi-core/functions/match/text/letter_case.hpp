// SPDX-License-Identifier: MIT
// Letter case: whether a search takes the capital letters of ASCII for the small ones.
#pragma once

#include <cstdint>

namespace mapi::match
{
enum class LetterCase : uint8_t { kExact, kIgnored };
} // namespace mapi::match
