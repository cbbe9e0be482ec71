// SPDX-License-Identifier: MIT
// Config values: the value of a key of mapi.conf -> a number, a list, a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mapi::engine
{
// Throws Error, which names the key, the value and the valid range.
uint64_t config_number(const std::string &key, const std::string &value, uint64_t least,
                       uint64_t most);
// The same for the nine permission bits of a file, in octal digits.
unsigned config_mode(const std::string &key, const std::string &value);
// The non-empty parts between colons.
std::vector<std::string> config_list(const std::string &value);
// From MAPI 2's number or a name; empty if it is not a log level.
std::string log_level_name(const std::string &value);
// MFF_PCAP etc. by name or number; empty if there is no such format.
std::optional<int> capture_format(const std::string &value);
} // namespace mapi::engine
