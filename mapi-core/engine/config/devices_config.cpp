// SPDX-License-Identifier: MIT
// Devices: mapi.conf -> entries, while flows with earlier settings continue.
#include <algorithm>
#include <set>

#include <mapi/mapi.h>

#include "engine/config/config.hpp"
#include "engine/devices.hpp"
#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
// Throws the first error in the file.
Config read_good_config(const std::string &path, const Registry &registry)
{
    std::istringstream file = open_config(path);
    Config config = read_config(file, path, registry);
    config.require_no_error();
    return config;
}

// The driver of MAPI 2's formats if mapi.conf names none.
const char *standard_driver_of(int format)
{
    switch (format) {
    case MFF_PCAP: return "pcap_file";
    case MFF_DAG_ERF: return "erf_file";
    default:
        throw Error(MAPID_NO_DRIVER, "no driver reads files of format " + std::to_string(format) +
                                         "; available: MFF_PCAP, MFF_DAG_ERF and the formats of "
                                         "mapi.conf's [format] sections");
    }
}
} // namespace

ReloadedConfig Devices::reload()
{
    std::string path = find_config();
    Config config;
    if (!path.empty())
        config = read_good_config(path, registry_); // without the lock
    const std::lock_guard lock(mutex_);
    if (path.empty() && !config_.empty())
        throw Error(MAPI_CONFIG_ERROR, config_ + ": no longer exists");
    return take_config(std::move(path), std::move(config));
}

// Without mapid the file is read at each lookup, which is rare, so the next flow uses an edited
// file.
void Devices::refresh()
{
    if (devices_options_.is_shared || devices_options_.has_captures_alone)
        return;
    std::string path = find_config();
    if (!path.empty())
        take_config(path, read_good_config(path, registry_));
}

std::string Devices::driver_of(int format)
{
    if (devices_options_.formats)
        return devices_options_.formats->driver_of(format);
    const std::map<int, std::string> drivers = format_drivers();
    const auto found = drivers.find(format);
    return found == drivers.end() ? standard_driver_of(format) : found->second;
}

// Without mapid captures can be read even if mapi.conf cannot.
std::map<int, std::string> Devices::format_drivers()
{
    const std::lock_guard lock(mutex_);
    const std::string path =
        devices_options_.is_shared || devices_options_.has_captures_alone ? "" : find_config();
    if (path.empty())
        return format_drivers_;
    try {
        std::istringstream file = open_config(path);
        return read_config(file, path, registry_).format_drivers;
    } catch (const Error &) {
        return {};
    }
}

ReloadedConfig Devices::take_config(std::string file, Config config)
{
    ReloadedConfig reported;
    std::set<std::string> named;
    for (DeviceSettings &settings : config.devices) {
        named.insert(settings.name);
        take_settings(std::move(settings), reported);
    }
    for (const auto &[id, entry] : entries_) {
        const bool is_of_file = entry->kind == Kind::kConfigured &&
                                !entry->settings.origin.empty() && !entry->is_replaced;
        if (!is_of_file || named.contains(entry->settings.name))
            continue;
        entry->is_replaced = true;
        reported.removed.push_back(entry->settings.name);
    }
    forget_unused();
    config_ = reported.file = std::move(file);
    reported.devices = named.size();
    reported.warnings = config.warnings();
    format_drivers_ = std::move(config.format_drivers);
    return reported;
}

void Devices::take_settings(DeviceSettings settings, ReloadedConfig &reported)
{
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const auto &item) {
        const Entry &entry = *item.second;
        return entry.kind == Kind::kConfigured && !entry.is_replaced &&
               entry.settings.name == settings.name;
    });
    const bool is_new = known == entries_.end();
    const bool is_changed = !is_new && !known->second->settings.opens_like(settings);
    if (is_new)
        reported.added.push_back(settings.name);
    if (is_changed)
        reported.changed.push_back(settings.name);
    const bool is_in_use =
        is_changed && (known->second->is_opening || !known->second->open.expired());
    if (!is_new && !is_in_use)
        return void(known->second->settings =
                        std::move(settings)); // for the next open, or settings that only describe
                                              // the device or set its group
    if (is_in_use)
        known->second->is_replaced = true;
    Entry entry;
    entry.settings = std::move(settings);
    add(std::move(entry));
}

void Devices::forget_unused()
{
    std::erase_if(entries_, [](const auto &item) {
        const Entry &entry = *item.second;
        return (entry.is_replaced || entry.is_interface) && !entry.is_opening &&
               entry.open.expired();
    });
}
} // namespace mapi::engine
