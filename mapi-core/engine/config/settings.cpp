// SPDX-License-Identifier: MIT
// Device settings: key and value -> field.
#include "engine/config/settings.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "engine/config/config_keys.hpp"
#include "engine/config/config_values.hpp"
#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
constexpr uint64_t kLinkSpeedMost = 10000000;
constexpr const char *kKeys[] = {"device", "driver",  "path",    "group",       "repeat",
                                 "batch",  "packets", "alias",   "description", "link_speed",
                                 "mpls",   "vlan",    "results", "node_groups"};

bool read_results(const std::string &value)
{
    if (value != "total" && value != "since_last")
        throw Error(MAPI_CONFIG_ERROR, "results=" + value + ": must be total or since_last");
    return value == "since_last";
}

// 0: forever.
uint64_t read_repeat(const std::string &value)
{
    if (value == "forever")
        return 0;
    try {
        return config_number("repeat", value, 1, std::numeric_limits<uint32_t>::max());
    } catch (const Error &error) {
        throw Error(MAPI_CONFIG_ERROR, std::string(error.what()) + ", or forever");
    }
}
} // namespace

std::string DeviceSettings::set(const std::string &key, const std::string &value)
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
        repeat = read_repeat(value);
    else if (key == "batch")
        batch = unsigned(config_number(key, value, 1, kBurstPackets));
    else if (key == "packets")
        packets = config_number(key, value, 1, std::numeric_limits<int64_t>::max());
    else if (key == "link_speed")
        link_speed = unsigned(config_number(key, value, 0, kLinkSpeedMost));
    else if (key == "mpls")
        mpls = unsigned(config_number(key, value, 0, 1));
    else if (key == "vlan")
        vlan = unsigned(config_number(key, value, 0, 1));
    else if (key == "node_groups")
        has_node_groups = config_number(key, value, 0, 1) == 1;
    else if (key == "results")
        tells_since_last = read_results(value);
    else if (key == "devgroup")
        return config_number(key, value, 0, std::numeric_limits<int32_t>::max()),
               "one mapid serves all devices; group= sets who may use this one";
    else if (key == "trace_dir")
        return "a device reads one file (path=); mergecap can merge several";
    else
        options.emplace_back(key, value);
    return {};
}

std::vector<uint64_t> DeviceSettings::option_values(const mapi_driver &table) const
{
    std::vector<uint64_t> values;
    size_t count = 0;
    while (table.options && table.options[count].key)
        ++count;
    const std::span known(table.options, count);
    std::vector<std::string> names(std::begin(kKeys), std::end(kKeys));
    for (const mapi_driver_option &option : known) {
        values.push_back(option.standard);
        names.emplace_back(option.key);
    }
    for (const auto &written : options) {
        const auto &[key, value] = written;
        const auto found = std::find_if(known.begin(), known.end(), [&](const auto &option) {
            return written.first == option.key;
        });
        if (found == known.end())
            throw Error(MAPI_CONFIG_ERROR, "unknown key \"" + key + "\" of a device of driver " +
                                               table.name + suggest(key, names));
        values[size_t(found - known.begin())] =
            config_number(key, value, found->least, found->most);
    }
    return values;
}
} // namespace mapi::engine
