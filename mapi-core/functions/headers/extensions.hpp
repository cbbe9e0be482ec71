// SPDX-License-Identifier: MIT
// Extensions: an IP layer -> its IPv4 options or IPv6 extension headers, one after the other.
#pragma once

#include <netinet/in.h>

#include "headers/headers.hpp"

namespace mapi::headers
{
// Calls bool visit(kind, offset, end) for each option that has a length, until it returns false or
// the rest is malformed.
template <class Visit>
void for_each_ipv4_option(const uint8_t *data, const IpLayer &layer, const Visit &visit)
{
    constexpr uint32_t kIpv4Bytes = 20;
    constexpr uint8_t kEnd = 0, kNoOperation = 1; // single bytes without a length
    const uint32_t end = layer.offset + (data[layer.offset] & 15u) * 4;
    for (uint32_t at = layer.offset + kIpv4Bytes; at < end && data[at] != kEnd;) {
        if (data[at] == kNoOperation) {
            ++at;
            continue;
        }
        const uint32_t bytes = end - at < 2 ? 0 : data[at + 1];
        if (bytes < 2 || bytes > end - at || !visit(data[at], at, at + bytes))
            return;
        at += bytes;
    }
}

// Calls visit(kind, offset, end) for each complete header that parse() walked through.
template <class Visit>
void for_each_extension(const uint8_t *data, const IpLayer &layer, const Visit &visit)
{
    constexpr uint32_t kIpv6Bytes = 40, kLeastBytes = 8;
    uint8_t kind = data[layer.offset + 6];
    for (uint32_t at = layer.offset + kIpv6Bytes; at + kLeastBytes <= layer.transport;) {
        const uint32_t words = data[at + 1];
        const uint32_t bytes = kind == IPPROTO_AH         ? (words + 2) * 4
                               : kind == IPPROTO_FRAGMENT ? kLeastBytes
                                                          : (words + 1) * 8;
        if (bytes > layer.transport - at)
            return;
        visit(kind, at, at + bytes);
        kind = data[at];
        at += bytes;
    }
}
} // namespace mapi::headers
