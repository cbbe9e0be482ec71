// SPDX-License-Identifier: MIT
// Bytes and one string -> whether the string is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mapi::match
{
// literal is not empty.  Reads no byte outside [data, data + bytes).
using LiteralSearch = bool (*)(const uint8_t *data, size_t bytes,
                               std::string_view literal) noexcept;

// The fastest one that this processor runs.
LiteralSearch best_literal_search() noexcept;

// Anywhere, and the reference for the others.
bool has_literal_portable(const uint8_t *data, size_t bytes, std::string_view literal) noexcept;
// Letters of the text in either case, of the literal small ones; slow, and needs no memory.
bool has_folded_literal(const uint8_t *data, size_t bytes, std::string_view literal) noexcept;
#ifdef __x86_64__
bool has_literal_sse2(const uint8_t *data, size_t bytes, std::string_view literal) noexcept;
bool has_literal_avx2(const uint8_t *data, size_t bytes, std::string_view literal) noexcept;
#endif
} // namespace mapi::match
