// SPDX-License-Identifier: MIT
// Device settings: key and value -> field.
#include "engine/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>

#include <mapi/packet.h>

#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
uint64_t number(const std::string &key, const std::string &value, uint64_t least, uint64_t most)
{
    uint64_t result = 0;
    const char *end = value.data() + value.size();
    const auto [stop, status] = std::from_chars(value.data(), end, result);
    if (status != std::errc() || stop != end || result < least || result > most)
        throw Error(MAPI_CONFIG_ERROR, key + "=" + value + ": needs a number from " + std::to_string(least) + " to " +
                                           std::to_string(most));
    return result;
}

// Keys of MAPI 2 that a file may have and that mean nothing to the drivers here.
constexpr std::array kIgnored = {"devgroup", "trace_dir"};
} // namespace

void DeviceSettings::set(const std::string &key, const std::string &value)
{
    if (key == "device")
        name = value;
    else if (key == "alias")
        alias = value;
    else if (key == "description")
        description = value;
    else if (key == "driver")
        driver = value;
    else if (key == "path")
        path = value;
    else if (key == "group")
        group = value;
    else if (key == "repeat")
        repeat = value == "forever" ? 0 : number(key, value, 1, std::numeric_limits<uint32_t>::max());
    else if (key == "batch")
        batch = unsigned(number(key, value, 1, MAPI_BATCH_MAX));
    else if (key == "link_speed")
        link_speed = unsigned(number(key, value, 0, 10000000));
    else if (key == "mpls")
        mpls = unsigned(number(key, value, 0, 1));
    else if (key == "vlan")
        vlan = unsigned(number(key, value, 0, 1));
    else if (std::find(kIgnored.begin(), kIgnored.end(), key) == kIgnored.end())
        options.emplace_back(key, value);
}

std::vector<uint64_t> DeviceSettings::option_values(const mapi_driver &table) const
{
    std::vector<uint64_t> values;
    const std::span known(table.options, table.option_count);
    std::string names;
    for (const mapi_driver_option &option : known) {
        values.push_back(option.standard);
        names += std::string(", ") + option.key;
    }
    for (const auto &written : options) {
        const auto &[key, value] = written;
        const auto found = std::find_if(known.begin(), known.end(), [&](const auto &option) { return written.first == option.key; });
        if (found == known.end())
            throw Error(MAPI_CONFIG_ERROR, "\"" + key + "\" is not a key of a device of " + table.name +
                                               "; these are: device, driver, path, group, repeat, batch, alias, description, link_speed, mpls, vlan" + names);
        values[size_t(found - known.begin())] = number(key, value, found->least, found->most);
    }
    return values;
}
} // namespace mapi::engine
