// SPDX-License-Identifier: MIT
// options: command line -> struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frame.hpp"
#include "pace.hpp"

namespace mapi_gen
{
enum ExitCode {
    kExitDone = 0,
    kExitRefused = 1, // nothing could be sent: interface, permission, capture
    kExitUsage = 2,
};

enum class Method { kAuto, kXdp, kPacketSocket };

struct Options {
    std::string interface;
    std::string capture; // empty: packets are generated
    FrameSetup frame;
    Rate rate;
    uint64_t packets = 0;       // to end after; 0: no limit
    double seconds = 0;         // to end after; 0: no limit
    std::vector<unsigned> cpus; // empty: one thread, not pinned
    Method method = Method::kAuto;
    std::string format = "text";
    bool is_quiet = false;

    unsigned threads() const { return cpus.empty() ? 1 : unsigned(cpus.size()); }
};

// Returns an exit code if the program should end now.
std::optional<int> parse_options(int argc, const char *const *argv, Options &options);
} // namespace mapi_gen
