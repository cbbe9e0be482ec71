// SPDX-License-Identifier: MIT
// ports: "any", "80", "1024:", "!80", "[80,8080:8090,!8085]" -> the ports meant.
#pragma once

#include <cstdint>
#include <string_view>

#include "interval_set.hpp"

namespace snort2sids
{
using PortSet = IntervalSet<uint16_t>;

// Variables are already replaced.  Throws Malformed.
PortSet read_ports(std::string_view text);
} // namespace snort2sids
