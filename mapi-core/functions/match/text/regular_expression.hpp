// SPDX-License-Identifier: MIT
// A regular expression, compiled once: packet views -> which of them contain a match.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <mapi/packet.h>

namespace mapi::match
{
// PCRE syntax without back references and look-around.  A dot does not match a newline; the search
// covers the captured bytes, starting at the frame's first byte.
class RegularExpression
{
public:
    virtual ~RegularExpression() = default;

    // Throws PatternError with the position of the error; also if this build or processor cannot
    // search.
    static std::unique_ptr<RegularExpression> compile(const std::string &pattern);

    // Its memory.
    virtual uint64_t memory_bytes() const noexcept = 0;

    // Examines packets[i] if bit i of mask is set and returns the part of mask that matches.  Not
    // thread-safe.
    virtual uint64_t filter(const mapi_packet *packets, uint64_t mask) noexcept = 0;
};
} // namespace mapi::match
