// SPDX-License-Identifier: MIT
// Capture error: why a capture file cannot be read, or not beyond some place, and where.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mapi::drivers
{
enum class Damage {
    kFile,      // the file cannot be opened
    kOpen,      // not a capture file
    kRecord,    // a record is malformed
    kTruncated, // the file ends inside a record
    kInput,     // a read failed
    kMemory,    // the client's memory limit is reached
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

// A capture's path as messages name it.
inline std::string shown_path(const std::string &path)
{
    return path == "-" ? "standard input" : path;
}
} // namespace mapi::drivers
