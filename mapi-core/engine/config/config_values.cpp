// SPDX-License-Identifier: MIT
#include "engine/config/config_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include <mapi/errors.h>
#include <mapi/mapi.h>

#include "engine/error.hpp"

namespace mapi::engine
{
uint64_t config_number(const std::string &key, const std::string &value, uint64_t least,
                       uint64_t most)
{
    uint64_t result = 0;
    const char *end = value.data() + value.size();
    const auto [stop, status] = std::from_chars(value.data(), end, result);
    if (status != std::errc() || stop != end || result < least || result > most)
        throw Error(MAPI_CONFIG_ERROR, key + "=" + value + ": must be a number from " +
                                           std::to_string(least) + " to " + std::to_string(most));
    return result;
}

unsigned config_mode(const std::string &key, const std::string &value)
{
    unsigned mode = 0;
    const char *end = value.data() + value.size();
    const auto [stop, status] = std::from_chars(value.data(), end, mode, 8);
    if (status != std::errc() || stop != end || mode > 0777)
        throw Error(MAPI_CONFIG_ERROR,
                    key + "=" + value + ": must be an octal mode from 0 to 0777");
    return mode;
}

std::vector<std::string> config_list(const std::string &value)
{
    std::vector<std::string> parts;
    std::istringstream input(value);
    for (std::string part; std::getline(input, part, ':');) {
        if (!part.empty())
            parts.push_back(part);
    }
    return parts;
}

std::string log_level_name(const std::string &value)
{
    static constexpr std::array kNumbered = {"error", "info", "debug"};
    static constexpr std::array kNames = {"trace", "debug", "info", "warning", "error"};
    if (value.size() == 1 && value[0] >= '0' && value[0] < char('0' + kNumbered.size()))
        return kNumbered[size_t(value[0] - '0')];
    return std::find(kNames.begin(), kNames.end(), value) != kNames.end() ? value : "";
}

std::optional<int> capture_format(const std::string &value)
{
    static constexpr std::array kNames = {"MFF_PCAP", "MFF_RAW", "MFF_DAG_ERF", "MFF_COMBO6",
                                          "MFF_NAPATECH"};
    static_assert(MFF_PCAP == 0 && MFF_NAPATECH == kNames.size() - 1);
    for (size_t i = 0; i < kNames.size(); ++i) {
        if (value == kNames[i] || value == std::to_string(i))
            return int(i);
    }
    return std::nullopt;
}
} // namespace mapi::engine
