// SPDX-License-Identifier: MIT
// decode: bytes -> CRC32C (Castagnoli, RFC 3720).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nsdump
{
// Uses the processor's instruction where it has one.
std::uint32_t crc32c(const void *data, std::size_t bytes);

// The same by table, for processors without the instruction; public so that a test can compare the two.
std::uint32_t crc32c_by_table(const void *data, std::size_t bytes);
} // namespace nsdump
