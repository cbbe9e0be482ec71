// SPDX-License-Identifier: MIT
// Devices: name -> device.
#include "engine/devices.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <sstream>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <net/if.h>

#include "engine/copy_text.hpp"
#include "engine/error.hpp"

namespace mapi::engine
{
namespace
{
constexpr const char *kAllInterfaces = "any"; // as in af_packet
constexpr std::string_view kXdpPrefix = "xdp:";

// An option that is off or on.
bool is_switch(const mapi_driver &driver, const std::string &key)
{
    for (const mapi_driver_option *each = driver.options; each && each->key; ++each) {
        if (key == each->key)
            return each->least == 0 && each->most == 1;
    }
    return false;
}

// A device that has no section in mapi.conf: INTERFACE, or xdp:INTERFACE[,KEY[=VALUE]]...; a switch
// without a value is on.
DeviceSettings settings_of(const std::string &name, const Registry &registry)
{
    DeviceSettings settings;
    settings.name = name;
    settings.path = name;
    settings.driver = "af_packet";
    if (!name.starts_with(kXdpPrefix))
        return settings;
    settings.driver = "xdp";
    std::istringstream parts(name.substr(kXdpPrefix.size()));
    std::getline(parts, settings.path, ',');
    for (std::string option; std::getline(parts, option, ',');) {
        const size_t end = option.find('=');
        const std::string key = option.substr(0, end);
        std::string value;
        if (end != std::string::npos)
            value = option.substr(end + 1);
        else if (is_switch(registry.driver(settings.driver), key))
            value = "1";
        settings.options.emplace_back(key, value);
    }
    return settings;
}

// Only by its real name: the system also accepts others, such as eth0:1.
bool is_interface(const std::string &name)
{
    char own[IF_NAMESIZE];
    if (name == kAllInterfaces)
        return true;
    const unsigned index = if_nametoindex(name.c_str());
    return index != 0 && if_indextoname(index, own) && name == own;
}
} // namespace

// Without the descriptor the driver would open the path with the privileges of this process instead
// of the client's.
std::shared_ptr<OwnedFile> Devices::keep_file(const std::string &path, int file)
{
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        throw Error(PCAP_OPEN_ERR, path + ": cannot be kept open: " + strerror(errno));
    return std::make_shared<OwnedFile>(own, "");
}

std::shared_ptr<Devices::Entry> Devices::find(const std::string &name)
{
    for (const auto &[id, entry] : entries_) {
        if (entry->kind != Kind::kConfigured && entry->settings.name == name && !entry->is_over())
            return entry;
    }
    refresh();
    std::string known;
    for (const auto &[id, entry] : entries_) {
        if (entry->is_replaced || entry->is_over())
            continue;
        if (entry->settings.name == name || (!name.empty() && entry->settings.alias == name))
            return entry;
        if (!devices_options_.is_shared) // else the client may not be allowed to use them
            known += " " + entry->settings.name;
    }
    if (!devices_options_.has_captures_alone && is_interface(settings_of(name, registry_).path)) {
        if (devices_options_.is_shared && name.starts_with(kXdpPrefix)) // it changes the interface
            throw Error(MAPID_NO_DRIVER, name + ": through mapid, a program in the kernel requires "
                                                "a device with driver=xdp in mapi.conf");
        return add_interface(name);
    }
    if (config_.empty())
        throw Error(MAPID_NO_DRIVER, "no device or network interface \"" + name +
                                         "\", and no configuration that could define it (set "
                                         "MAPI_CONF, or create mapi.conf here or in /etc)");
    throw Error(MAPID_NO_DRIVER, "no device \"" + name + "\" in " + config_ +
                                     ", and no network interface of that name" +
                                     (known.empty() ? "" : "; available:" + known));
}

// Also finds a device that mapi.conf no longer has: the caller may have flows on it.  Null if it is
// not open.
std::shared_ptr<Device> Devices::find_open(const std::string &name)
{
    std::exception_ptr unknown;
    try {
        if (auto device = find(name)->open.lock())
            return device;
    } catch (const Error &) {
        unknown = std::current_exception();
    }
    for (auto item = entries_.rbegin(); item != entries_.rend(); ++item) {
        const Entry &entry = *item->second;
        if (!entry.is_replaced || entry.settings.name != name)
            continue;
        if (auto device = entry.open.lock())
            return device;
    }
    if (unknown)
        std::rethrow_exception(unknown);
    return nullptr;
}

// Other callers that need the device wait until this call has opened it.
std::shared_ptr<Device> Devices::open(Lock &lock, Entry &entry, bool start_at_connect)
{
    opened_.wait(lock, [&] { return !entry.is_opening; });
    if (auto device = entry.open.lock())
        return device;
    DeviceSettings settings = entry.settings;
    if (const auto options = options_.find(settings.name); options != options_.end()) {
        for (const auto &[key, value] : options->second)
            settings.set(key, value);
    }
    if (devices_options_.is_shared && entry.kind == Kind::kConfigured)
        settings.waits_for_readers = false;
    entry.is_opening = true;
    lock.unlock();
    std::shared_ptr<Device> device;
    std::exception_ptr failure;
    try {
        const mapi_driver &driver = registry_.driver(settings.driver);
        device = std::make_shared<Device>(entry.id, std::move(settings), driver, start_at_connect,
                                          devices_options_.on_plan, devices_options_.quota);
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    entry.is_opening = false;
    entry.open = device;
    opened_.notify_all();
    if (failure)
        std::rethrow_exception(failure);
    return device;
}

std::shared_ptr<Device> Devices::acquire(const std::string &name)
{
    Lock lock(mutex_);
    const auto entry = find(name);
    if (entry->kind == Kind::kPrivate) { // never reopened: its file may have been closed
        if (auto device = entry->open.lock())
            return device;
        throw Error(MAPID_NO_DEVICE, "device " + name + " was closed with its flow");
    }
    auto device = open(lock, *entry, entry->kind == Kind::kConfigured);
    if (entry->kind == Kind::kOffline)
        entry->kept = device;
    return device;
}

std::shared_ptr<Devices::Entry> Devices::add(Entry entry)
{
    entry.id = ++last_id_;
    return entries_[last_id_] = std::make_shared<Entry>(std::move(entry));
}

// An interface without a section, with default settings.
std::shared_ptr<Devices::Entry> Devices::add_interface(const std::string &name)
{
    forget_unused();
    Entry entry;
    entry.is_interface = true;
    entry.settings = settings_of(name, registry_);
    return add(std::move(entry));
}

std::shared_ptr<Devices::Entry> Devices::add_file(Lock &lock, const std::string &path,
                                                  const std::string &driver, int file, Kind kind)
{
    std::erase_if(entries_, [](const auto &item) { return item.second->is_over(); });
    const auto entry = std::make_shared<Entry>();
    entry->id = ++last_id_;
    entry->kind = kind;
    entry->settings.driver = driver;
    entry->settings.path = path;
    entry->settings.name = path + "@" + std::to_string(entry->id);
    if (file >= 0) {
        entry->file = keep_file(path, file);
        entry->settings.file = entry->file->descriptor();
    }
    entry->kept =
        open(lock, *entry,
             kind == Kind::kPrivate); // now, so that a missing or unknown file is reported here
    if (kind == Kind::kPrivate) { // the device has its own descriptor; the file's lock ends with it
        entry->settings.file = -1;
        entry->file.reset();
    }
    return entries_[entry->id] = entry;
}

std::string Devices::create_offline(const std::string &path, int format, int file)
{
    const std::string driver = driver_of(format);
    Lock lock(mutex_);
    return add_file(lock, path, driver, file, Kind::kOffline)->settings.name;
}

std::shared_ptr<Device> Devices::create_private(const std::string &path, int format, int file)
{
    const std::string driver = driver_of(format);
    Lock lock(mutex_);
    return std::move(add_file(lock, path, driver, file, Kind::kPrivate)->kept);
}

bool Devices::has(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto &item) {
        return item.second->settings.name == name && !item.second->is_over();
    });
}

std::string Devices::group_of(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    refresh();
    return find_group(name);
}

std::string Devices::group_of(int id)
{
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    return found == entries_.end() ? "" : find_group(*found->second);
}

std::string Devices::find_group(const Entry &entry) const
{
    return entry.is_replaced ? entry.settings.group : find_group(entry.settings.name);
}

std::string Devices::find_group(const std::string &name) const
{
    const auto group_where = [&](auto matches) {
        const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto &item) {
            const Entry &entry = *item.second;
            return !entry.is_replaced && !entry.settings.group.empty() && matches(entry.settings);
        });
        return found == entries_.end() ? std::string() : found->second->settings.group;
    };
    std::string own = group_where([&](const DeviceSettings &settings) {
        return settings.name == name || settings.alias == name;
    });
    if (!own.empty())
        return own;
    // Packets of restricted interfaces are among those of "any".
    const std::string of_path =
        group_where([&, interface = settings_of(name, registry_).path](
                        const DeviceSettings &settings) { return settings.path == interface; });
    const bool is_restricted = name == kAllInterfaces && of_path.empty() &&
                               !group_where([](const DeviceSettings &) { return true; }).empty();
    return is_restricted ? "root" : of_path;
}

std::shared_ptr<Devices::Entry> Devices::offline(const std::string &name)
{
    for (const auto &[id, entry] : entries_) {
        if (entry->kind == Kind::kOffline && entry->settings.name == name)
            return entry;
    }
    throw Error(MAPID_NO_DEVICE, "no offline device \"" + name + "\"");
}

void Devices::append_offline(const std::string &name, const std::string &path, int file)
{
    Lock lock(mutex_);
    const auto entry = offline(name);
    entry->kept = open(lock, *entry, false);
    const auto own = file < 0 ? nullptr : keep_file(path, file);
    const int descriptor = own ? own->descriptor() : -1;
    entry->kept->append(path, descriptor);
    entry->settings.more.emplace_back(path, descriptor); // in case it is reopened with an option
    if (own)
        entry->more_files.push_back(own);
}

void Devices::start_offline(const std::string &name)
{
    Lock lock(mutex_);
    const auto entry = offline(name);
    entry->kept = open(lock, *entry, false);
    entry->kept->start();
}

void Devices::delete_offline(const std::string &name)
{
    std::shared_ptr<Device>
        last; // destroyed after the lock is released, since that joins its thread
    const std::lock_guard lock(mutex_);
    const auto entry = offline(name);
    last = std::move(entry->kept);
    options_.erase(name);
    entries_.erase(entry->id);
}

void Devices::set_option(const std::string &name, const std::string &key, const std::string &value)
{
    Lock lock(mutex_);
    const auto entry = find(name);
    opened_.wait(lock, [&] { return !entry->is_opening; });
    if (entry->kept && entry->kept.use_count() == 1 && !entry->kept->has_started())
        entry->kept.reset(); // its first use reopens it with the option
    if (!entry->open.expired())
        throw Error(MDLIB_FLOW_ALREADY_ACTIVE,
                    "device " + name +
                        " is in use (set its options before its first flow is created)");
    DeviceSettings changed(entry->settings);
    changed.set(key, value);
    changed.option_values(registry_.driver(changed.driver)); // throws for unknown options
    options_[entry->settings.name].emplace_back(key, value);
}

mapi_device_info_t Devices::describe(const Entry &entry, const Device *device) const
{
    mapi_device_info_t info = {};
    info.id = entry.id;
    copy_text(info.device, entry.settings.name);
    copy_text(info.name, entry.settings.driver);
    copy_text(info.alias, entry.settings.alias);
    copy_text(info.description, entry.settings.description);
    if (entry.settings.description.empty() && registry_.has_driver(entry.settings.driver))
        copy_text(info.description, registry_.driver(entry.settings.driver).description);
    info.link_speed = entry.settings.link_speed;
    info.mpls = int(entry.settings.mpls);
    info.vlan = int(entry.settings.vlan);
    info.link_type = device && device->link_type() != MAPI_LINK_UNKNOWN ? device->link_type() : -1;
    return info;
}

void Devices::describe(int id, mapi_device_info_t *info)
{
    std::shared_ptr<Device>
        device; // destroyed after the lock is released, since that joins its thread
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end())
        throw Error(MAPI_DEVICE_INFO_ERR, "no device " + std::to_string(id));
    device = found->second->open.lock();
    *info = describe(*found->second, device.get());
}

int Devices::next(int id)
{
    const std::lock_guard lock(mutex_);
    refresh();
    auto found = entries_.upper_bound(id);
    while (found != entries_.end() && (found->second->is_replaced || found->second->is_over()))
        ++found;
    return found == entries_.end() ? 0 : found->first;
}

std::vector<ListedDevice> Devices::list()
{
    std::vector<ListedDevice>
        all; // may be the last owners of devices: destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    for (const auto &[id, entry] : entries_) {
        const auto device = entry->open.lock();
        if (device || !entry->is_replaced)
            all.push_back(
                {describe(*entry, device.get()), device, entry->is_replaced, find_group(*entry)});
    }
    return all;
}

bool Devices::free_retired()
{
    std::vector<std::weak_ptr<Device>>
        all; // without the lock and one device at a time, since ending a function may take long
    {
        const std::lock_guard lock(mutex_);
        for (const auto &[id, entry] : entries_)
            all.push_back(entry->open);
    }
    bool is_free = true;
    for (const auto &open : all) {
        if (const auto device = open.lock())
            is_free &= device->free_retired();
    }
    return is_free;
}

std::shared_ptr<Device> Devices::find_opened(const std::string &name)
{
    const std::lock_guard lock(mutex_);
    auto device = find_open(name);
    if (!device)
        throw Error(MAPI_STATS_ERROR, "device " + name + " is not open; its first flow opens it");
    return device;
}

void Devices::copy_stats(const std::string &name, mapi_stat_t *stats, Client *client)
{
    // statistics are read, and the device possibly destroyed, without the lock
    const std::shared_ptr<Device> device = find_opened(name);
    device->copy_stats(stats, client ? client->drops_of(device->totals()).get() : nullptr);
}
} // namespace mapi::engine
