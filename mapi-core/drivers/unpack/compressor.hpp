// SPDX-License-Identifier: MIT
// Compressor: the first bytes of a file -> what unpacks it.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "drivers/unpack/decoder.hpp"

namespace mapi::drivers
{
struct Compressor {
    const char *name;
    const char *unpack_command; // for messages
    std::string_view magic;
    std::unique_ptr<Decoder> (*make_decoder)(); // null: not in this build
};

constexpr size_t kMagicBytes = 6; // of the longest magic

// Null if no known compression is recognized.
const Compressor *find_compressor(std::span<const uint8_t> first_bytes);
} // namespace mapi::drivers
