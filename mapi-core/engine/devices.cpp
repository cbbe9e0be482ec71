// SPDX-License-Identifier: MIT
// Devices: name -> device.
#include "engine/devices.hpp"

#include <algorithm>
#include <fstream>

#include <fcntl.h>
#include <net/if.h>

#include <mapi/mapi.h>

#include "engine/config.hpp"
#include "engine/copy_text.hpp"
#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
// The driver that reads files of a format.
const char *driver_for(int format)
{
    switch (format) {
    case MFF_PCAP:
        return "pcap_file";
    case MFF_DAG_ERF:
        return "erf_file";
    default:
        throw Error(MAPI_NO_DRIVER, "no driver reads files of format " + std::to_string(format) + "; MFF_PCAP or MFF_DAG_ERF it can be");
    }
}

// By its own name: the system also takes others, such as eth0:1.
bool is_interface(const std::string &name)
{
    char own[IF_NAMESIZE];
    const unsigned index = if_nametoindex(name.c_str());
    return index != 0 && if_indextoname(index, own) && name == own;
}
} // namespace

// Read at each look-up, which is rare: an edited file counts for the next flow.
void Devices::read_config()
{
    config_ = devices_options_.has_captures_alone ? "" : find_config();
    if (config_.empty())
        return;
    std::ifstream file(config_);
    if (!file)
        throw Error(MAPI_CONFIG_ERROR, config_ + ": cannot be read");
    for (DeviceSettings &settings : engine::read_config(file, config_, registry_)) {
        const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const auto &item) {
            return item.second.kind == Kind::kConfigured && item.second.settings.name == settings.name;
        });
        Entry &entry = known == entries_.end() ? entries_[++last_id_] : known->second;
        entry.id = known == entries_.end() ? last_id_ : known->first;
        entry.settings = std::move(settings);
    }
}

Devices::Entry &Devices::find(const std::string &name)
{
    for (auto &[id, entry] : entries_) {
        if (entry.kind != Kind::kConfigured && entry.settings.name == name)
            return entry;
    }
    read_config();
    std::string known;
    for (auto &[id, entry] : entries_) {
        if (entry.settings.name == name || (!name.empty() && entry.settings.alias == name))
            return entry;
        known += " " + entry.settings.name;
    }
    if (!devices_options_.has_captures_alone && is_interface(name))
        return add_interface(name);
    if (config_.empty())
        throw Error(MAPI_NO_DEVICE, "there is no device and no network interface \"" + name +
                                        "\", and no configuration that could name it: set MAPI_CONF, or write mapi.conf here or in /etc");
    throw Error(MAPI_NO_DEVICE, "there is no device \"" + name + "\" in " + config_ + ", and no network interface of that name; known:" + known);
}

std::shared_ptr<Device> Devices::open(Entry &entry, bool start_at_connect)
{
    if (auto device = entry.open.lock())
        return device;
    DeviceSettings settings = entry.settings;
    if (const auto options = options_.find(settings.name); options != options_.end()) {
        for (const auto &[key, value] : options->second)
            settings.set(key, value);
    }
    if (devices_options_.is_shared && entry.kind == Kind::kConfigured)
        settings.waits_for_readers = false;
    const mapi_driver &driver = registry_.driver(settings.driver);
    auto device = std::make_shared<Device>(entry.id, std::move(settings), driver, start_at_connect);
    entry.open = device;
    return device;
}

std::shared_ptr<Device> Devices::acquire(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    Entry &entry = find(name);
    auto device = open(entry, entry.kind == Kind::kConfigured);
    if (entry.kind == Kind::kOffline)
        entry.kept = device;
    return device;
}

// One that no configuration describes: as it is.
Devices::Entry &Devices::add_interface(const std::string &name)
{
    Entry &entry = entries_[++last_id_];
    entry.id = last_id_;
    entry.settings.name = entry.settings.path = name;
    entry.settings.driver = "af_packet";
    return entry;
}

Devices::Entry &Devices::add_file(const std::string &path, int format, int file, Kind kind)
{
    std::erase_if(entries_, [](const auto &item) {
        return item.second.kind == Kind::kPrivate && item.second.open.expired();
    });
    Entry entry;
    entry.id = ++last_id_;
    entry.kind = kind;
    entry.settings.driver = driver_for(format);
    entry.settings.path = path;
    entry.settings.name = path + "@" + std::to_string(entry.id);
    if (file >= 0 && (entry.file = std::make_shared<OwnedFile>(fcntl(file, F_DUPFD_CLOEXEC, 0), "")))
        entry.settings.file = entry.file->descriptor();
    entry.kept = open(entry, kind == Kind::kPrivate); // now, so that a missing or foreign file is told here
    return entries_[entry.id] = std::move(entry);
}

std::string Devices::create_offline(const std::string &path, int format, int file)
{
    const std::lock_guard lock(mutex_);
    return add_file(path, format, file, Kind::kOffline).settings.name;
}

std::shared_ptr<Device> Devices::create_private(const std::string &path, int format, int file)
{
    const std::lock_guard lock(mutex_);
    return std::move(add_file(path, format, file, Kind::kPrivate).kept);
}

bool Devices::has(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto &item) { return item.second.settings.name == name; });
}

std::string Devices::group_of(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    read_config();
    const auto group_where = [&](auto matches) {
        const auto found = std::find_if(entries_.begin(), entries_.end(),
                                        [&](const auto &item) { return !item.second.settings.group.empty() && matches(item.second.settings); });
        return found == entries_.end() ? std::string() : found->second.settings.group;
    };
    const std::string own = group_where([&](const DeviceSettings &settings) { return settings.name == name || settings.alias == name; });
    return own.empty() ? group_where([&](const DeviceSettings &settings) { return settings.path == name; }) : own;
}

Devices::Entry &Devices::offline(const std::string &name)
{
    for (auto &[id, entry] : entries_) {
        if (entry.kind == Kind::kOffline && entry.settings.name == name)
            return entry;
    }
    throw Error(MAPI_NO_DEVICE, "there is no offline device \"" + name + "\"");
}

void Devices::start_offline(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    Entry &entry = offline(name);
    entry.kept = open(entry, false);
    entry.kept->start();
}

void Devices::delete_offline(const std::string &name)
{
    std::shared_ptr<Device> last; // its thread is joined without the lock
    const std::lock_guard lock(mutex_);
    Entry &entry = offline(name);
    last = std::move(entry.kept);
    options_.erase(name);
    entries_.erase(entry.id);
}

void Devices::set_option(const std::string &name, const std::string &key, const std::string &value)
{
    const std::lock_guard lock(mutex_);
    Entry &entry = find(name);
    if (entry.kept && entry.kept.use_count() == 1 && !entry.kept->has_started())
        entry.kept.reset(); // its first use opens it again, with the option
    if (!entry.open.expired())
        throw Error(MAPI_FLOW_ALREADY_ACTIVE, "device " + name + " is in use; options are set before its first flow");
    DeviceSettings changed(entry.settings);
    changed.set(key, value);
    changed.option_values(registry_.driver(changed.driver)); // refuses what it does not know
    options_[entry.settings.name].emplace_back(key, value);
}

void Devices::describe(int id, mapi_device_info_t *info)
{
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end())
        throw Error(MAPI_NO_DEVICE, "there is no device " + std::to_string(id));
    const Entry &entry = found->second;
    const auto device = entry.open.lock();
    info->id = id;
    copy_text(info->device, entry.settings.name);
    copy_text(info->name, entry.settings.driver);
    copy_text(info->alias, entry.settings.alias);
    copy_text(info->description, entry.settings.description);
    info->link_speed = entry.settings.link_speed;
    info->mpls = int(entry.settings.mpls);
    info->vlan = int(entry.settings.vlan);
    info->link_type = device && device->link_type() != MAPI_LINK_UNKNOWN ? device->link_type() : -1;
}

int Devices::next(int id)
{
    const std::lock_guard lock(mutex_);
    read_config();
    const auto found = entries_.upper_bound(id);
    return found == entries_.end() ? 0 : found->first;
}

void Devices::copy_stats(const std::string &name, mapi_stat_t *stats)
{
    std::shared_ptr<Device> device; // its last owner waits for its thread without the lock
    const std::lock_guard lock(mutex_);
    device = find(name).open.lock();
    if (!device)
        throw Error(MAPI_NO_DEVICE, "device " + name + " is not open; its first flow opens it");
    device->copy_stats(stats);
}
} // namespace mapi::engine
