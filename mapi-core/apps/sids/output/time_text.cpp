// SPDX-License-Identifier: MIT
#include "time_text.hpp"

#include <chrono>
#include <ctime>

#include <fmt/format.h>

namespace sids
{
namespace
{
constexpr uint64_t kNsPerSecond = 1000000000, kNsPerMicrosecond = 1000;

std::string time_text(uint64_t ns, char separator)
{
    const auto seconds = time_t(ns / kNsPerSecond);
    struct tm date = {};
    gmtime_r(&seconds, &date);
    return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}.{:06}", date.tm_year + 1900,
                       date.tm_mon + 1, date.tm_mday, separator, date.tm_hour, date.tm_min,
                       date.tm_sec, ns % kNsPerSecond / kNsPerMicrosecond);
}
} // namespace

uint64_t now_ns()
{
    return uint64_t(
        std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

std::string json_time(uint64_t ns)
{
    return time_text(ns, 'T') + "+0000";
}

std::string table_time(uint64_t ns)
{
    return time_text(ns, ' ');
}
} // namespace sids
