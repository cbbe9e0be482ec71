// SPDX-License-Identifier: MIT
// A build without libhtp: no packet has HTTP parts.
#include "match/rule/http_parts.hpp"

namespace mapi::match::rule
{
const bool kReadsHttp = false;

void read_http(std::span<const uint8_t>, HttpParts &) {}
} // namespace mapi::match::rule
