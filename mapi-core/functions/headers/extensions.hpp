// SPDX-License-Identifier: MIT
// Extensions: an IPv6 layer -> its extension headers, one after the other.
#pragma once

#include <netinet/in.h>

#include "headers/headers.hpp"

namespace mapi::headers
{
// visit(kind, offset, end) for each header that parse() walked through, all of whose bytes are there.
template <class Visit> void for_each_extension(const uint8_t *data, const IpLayer &layer, const Visit &visit)
{
    constexpr uint32_t kIpv6Bytes = 40, kLeastBytes = 8;
    uint8_t kind = data[layer.offset + 6];
    for (uint32_t at = layer.offset + kIpv6Bytes; at + kLeastBytes <= layer.transport;) {
        const uint32_t words = data[at + 1];
        const uint32_t bytes = kind == IPPROTO_AH ? (words + 2) * 4 : kind == IPPROTO_FRAGMENT ? kLeastBytes : (words + 1) * 8;
        if (bytes > layer.transport - at)
            return;
        visit(kind, at, at + bytes);
        kind = data[at];
        at += bytes;
    }
}
} // namespace mapi::headers
