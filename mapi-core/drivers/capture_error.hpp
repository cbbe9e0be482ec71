// SPDX-License-Identifier: MIT
// Capture error: why a capture file cannot be read (further), and where.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mapi::drivers
{
enum class Damage {
    kFile,      // the system does not open it
    kOpen,      // no capture file at all
    kRecord,    // a record contradicts the format
    kTruncated, // the file ends inside a record
    kInput,     // the system cannot read on
    kMemory,    // who reads may have no more
};

class CaptureError : public std::runtime_error
{
public:
    CaptureError(Damage damage, const std::string &text) : std::runtime_error(text), damage_(damage)
    {
    }
    Damage damage() const { return damage_; }

private:
    Damage damage_;
};
} // namespace mapi::drivers
