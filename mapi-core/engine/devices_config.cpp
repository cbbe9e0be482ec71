// SPDX-License-Identifier: MIT
// Devices: what mapi.conf says -> entries, while flows of earlier settings go on.
#include <algorithm>
#include <set>

#include "engine/config.hpp"
#include "engine/devices.hpp"
#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
std::vector<DeviceSettings> read_devices(const std::string &path, const Registry &registry)
{
    std::istringstream file = open_config(path);
    return read_config(file, path, registry);
}
} // namespace

ReloadedConfig Devices::reload()
{
    std::string path = find_config();
    std::vector<DeviceSettings> devices;
    if (!path.empty())
        devices = read_devices(path, registry_); // without the lock
    const std::lock_guard lock(mutex_);
    if (path.empty() && !config_.empty())
        throw Error(MAPI_CONFIG_ERROR, config_ + ": is not there any more");
    return take_config(std::move(path), std::move(devices));
}

// A program by itself reads it at each look-up, which is rare: an edited file counts for the next flow.
void Devices::refresh()
{
    if (devices_options_.is_shared || devices_options_.has_captures_alone)
        return;
    std::string path = find_config();
    if (!path.empty())
        take_config(path, read_devices(path, registry_));
}

ReloadedConfig Devices::take_config(std::string file, std::vector<DeviceSettings> devices)
{
    ReloadedConfig told;
    std::set<std::string> named;
    for (DeviceSettings &settings : devices) {
        named.insert(settings.name);
        take_settings(std::move(settings), told);
    }
    for (const auto &[id, entry] : entries_) {
        const bool is_of_file = entry->kind == Kind::kConfigured && !entry->settings.origin.empty() && !entry->is_replaced;
        if (!is_of_file || named.contains(entry->settings.name))
            continue;
        entry->is_replaced = true;
        told.removed.push_back(entry->settings.name);
    }
    forget_unused();
    config_ = told.file = std::move(file);
    told.devices = named.size();
    return told;
}

void Devices::take_settings(DeviceSettings settings, ReloadedConfig &told)
{
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const auto &item) {
        const Entry &entry = *item.second;
        return entry.kind == Kind::kConfigured && !entry.is_replaced && entry.settings.name == settings.name;
    });
    const bool is_new = known == entries_.end();
    const bool is_changed = !is_new && !known->second->settings.opens_like(settings);
    if (is_new)
        told.added.push_back(settings.name);
    if (is_changed)
        told.changed.push_back(settings.name);
    const bool is_in_use = is_changed && (known->second->is_opening || !known->second->open.expired());
    if (!is_new && !is_in_use)
        return void(known->second->settings = std::move(settings)); // as it will be opened, what is told, or who may use it
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
        return (entry.is_replaced || entry.is_interface) && !entry.is_opening && entry.open.expired();
    });
}
} // namespace mapi::engine
