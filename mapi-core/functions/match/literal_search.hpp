// SPDX-License-Identifier: MIT
// Bytes and one string -> whether the string is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mapi::match
{
// literal is not empty.  Reads no byte outside [data, data + bytes).
bool has_literal(const uint8_t *data, size_t bytes, std::string_view literal) noexcept;
} // namespace mapi::match
