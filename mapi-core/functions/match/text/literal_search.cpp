// SPDX-License-Identifier: MIT
// Chooses the search for this processor.
#include "literal_search.hpp"

#include <algorithm>
#include <cstring>

#include "folded_text.hpp"

namespace mapi::match
{
bool has_literal_portable(const uint8_t *data, size_t bytes, std::string_view literal) noexcept
{
    return bytes >= literal.size() &&
           memmem(data, bytes, literal.data(), literal.size()) != nullptr;
}

bool has_folded_literal(const uint8_t *data, size_t bytes, std::string_view literal) noexcept
{
    const uint8_t *const end = data + bytes;
    return std::search(data, end, literal.begin(), literal.end(), [](uint8_t byte, char letter) {
               return folded(byte) == uint8_t(letter);
           }) != end;
}

LiteralSearch best_literal_search() noexcept
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") ? has_literal_avx2 : has_literal_sse2;
#else
    return has_literal_portable;
#endif
}
} // namespace mapi::match
