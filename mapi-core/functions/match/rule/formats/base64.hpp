// SPDX-License-Identifier: MIT
// Base64 (RFC 4648) in a packet -> bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mapi::match::rule
{
// Decodes up to the first character that is not part of it; line breaks before blanks, as in folded
// headers, are left out.  most_bytes: of the encoded text; 0: all.
void decode_base64(std::span<const uint8_t> encoded, uint32_t most_bytes,
                   std::vector<uint8_t> &decoded);
} // namespace mapi::match::rule
