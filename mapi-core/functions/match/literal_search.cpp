// SPDX-License-Identifier: MIT
// Bytes and one string -> whether the string is in them.
#include "literal_search.hpp"

#include <cstring>

namespace mapi::match
{
bool has_literal(const uint8_t *data, size_t bytes, std::string_view literal) noexcept
{
    return memmem(data, bytes, literal.data(), literal.size()) != nullptr;
}
} // namespace mapi::match
