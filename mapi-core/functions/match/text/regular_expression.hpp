// SPDX-License-Identifier: MIT
// A regular expression, compiled once: packet views -> which of them hold a match.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <mapi/packet.h>

namespace mapi::match
{
// PCRE's syntax without back references and look-around.  A dot matches no newline; the captured bytes are searched, from the
// frame's first on.
class RegularExpression
{
public:
    virtual ~RegularExpression() = default;

    // Throws PatternError with the place of the mistake; also where this build or this processor cannot search.
    static std::unique_ptr<RegularExpression> compile(const std::string &pattern);

    // What it holds.
    virtual uint64_t memory_bytes() const noexcept = 0;

    // packets[i] is looked at where bit i of mask is set; the result is the part of mask that matches.  One thread at a time.
    virtual uint64_t filter(const mapi_packet *packets, uint64_t mask) noexcept = 0;
};
} // namespace mapi::match
