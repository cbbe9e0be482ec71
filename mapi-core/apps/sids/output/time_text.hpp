// SPDX-License-Identifier: MIT
// Time text: the clock; times -> text in UTC.
#pragma once

#include <cstdint>
#include <string>

namespace sids
{
// Nanoseconds since 1970.
uint64_t now_ns();
// "2004-11-09T11:33:20.000123+0000", as in Suricata's EVE.
std::string json_time(uint64_t ns);
// "2004-11-09 11:33:20.000123"
std::string table_time(uint64_t ns);
} // namespace sids
