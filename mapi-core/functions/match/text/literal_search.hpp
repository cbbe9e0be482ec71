// SPDX-License-Identifier: MIT
// Bytes and one string -> whether the string is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mapi::match
{
// literal must not be empty.  Reads no byte outside [data, data + bytes).
using LiteralSearch = bool (*)(const uint8_t *data, size_t bytes,
                               std::string_view literal) noexcept;

// The fastest search that this processor supports.
LiteralSearch best_literal_search() noexcept;

// Works anywhere, and is the reference for the others.
bool has_literal_portable(const uint8_t *data, size_t bytes, std::string_view literal) noexcept;
// Matches letters of the text in either case; the literal must be in lower case.  Slow, but needs
// no memory.
bool has_folded_literal(const uint8_t *data, size_t bytes, std::string_view literal) noexcept;
#ifdef __x86_64__
bool has_literal_sse2(const uint8_t *data, size_t bytes, std::string_view literal) noexcept;
bool has_literal_avx2(const uint8_t *data, size_t bytes, std::string_view literal) noexcept;
#endif
} // namespace mapi::match
