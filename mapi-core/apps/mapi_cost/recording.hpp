// SPDX-License-Identifier: MIT
// recording: packets of a device or an ERF file -> a capture that can be read again and again.
#pragma once

#include <cstdint>
#include <string>

namespace mapi_cost
{
struct Source {
    std::string name; // of a device, or a path
    bool is_device = false;
};

// The first packets, of a device those of kRecordSeconds at most.  Throws MapiError and command::Interrupted.
constexpr int kRecordSeconds = 10;
void record(const Source &source, std::uint64_t packets, const std::string &path);
} // namespace mapi_cost
