// SPDX-License-Identifier: MIT
// recording: packets of a device or an ERF file -> a capture that can be read repeatedly.
#pragma once

#include <cstdint>
#include <string>

namespace mapi_cost
{
struct Source {
    std::string name; // of a device, or a path
    bool is_device = false;
};

// Records the first packets; on a device, for at most `seconds`.  Throws MapiError and
// command::Interrupted.
void record(const Source &source, std::uint64_t packets, std::uint64_t seconds,
            const std::string &path);
} // namespace mapi_cost
