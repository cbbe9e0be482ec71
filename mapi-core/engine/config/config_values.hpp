// SPDX-License-Identifier: MIT
// Config values: what stands behind a key of mapi.conf -> a number, a list, a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mapi::engine
{
// Throws Error, which names key, value and what it may be.
uint64_t config_number(const std::string &key, const std::string &value, uint64_t least, uint64_t most);
// The same of the nine bits of who may do what with a file, in octal digits.
unsigned config_mode(const std::string &key, const std::string &value);
// Parts between colons that are not empty.
std::vector<std::string> config_list(const std::string &value);
// Of MAPI 2's numbers, or as it is; empty: it is none.
std::string log_level_name(const std::string &value);
// MFF_PCAP by name or number; nothing: there is no such format.
std::optional<int> capture_format(const std::string &value);
} // namespace mapi::engine
