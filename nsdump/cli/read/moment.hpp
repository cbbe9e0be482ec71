// SPDX-License-Identifier: MIT
// cli: "1.5s", "200ms" or "2026-11-29T12:00:00Z" -> a point in time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nsdump
{
struct Moment {
    bool is_absolute = false; // since 1970, UTC; otherwise since the start of the recording
    int64_t ns = 0;
};

std::optional<Moment> moment_of(const std::string &text);
// A check for options.
std::string is_moment(const std::string &text);
} // namespace nsdump
