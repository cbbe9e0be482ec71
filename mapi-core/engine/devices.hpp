// SPDX-License-Identifier: MIT
// Devices: name -> device, from mapi.conf or from a capture file that the program names.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <mapi/results.h>

#include "engine/config/config.hpp"
#include "engine/packet_path/device.hpp"
#include "engine/config/registry.hpp"

namespace mapi::engine
{
class Devices;

struct DevicesOptions {
    int first_id = 1;
    bool is_shared = false; // devices of mapi.conf are used by several clients: none of them may hold one up, and reload() alone reads the file
    bool has_captures_alone = false; // neither mapi.conf nor interfaces
    Devices *formats = nullptr;      // whose mapi.conf says what reads captures; null: its own
    PlanObserver on_plan = {};
    std::shared_ptr<Budget> budget = {}; // of what drivers hold; null: nobody counts
};

// What a reload() has found, by name.
struct ReloadedConfig {
    std::string file; // empty: there is none
    size_t devices = 0;
    std::vector<std::string> added, changed, removed;
    std::vector<std::string> warnings;
};

struct ListedDevice {
    mapi_device_info_t info = {};
    std::shared_ptr<Device> open; // null: its first flow opens it
    bool is_replaced = false;     // mapi.conf says otherwise by now; it goes with its last flow
    std::string group;            // whose members may use it; empty: mapi.conf does not say
};

// Any thread; opening a device holds up those who want the same alone.  Everything throws Error.
class Devices
{
public:
    explicit Devices(const Registry &registry, DevicesOptions options = {})
        : registry_(registry), devices_options_(options), last_id_(options.first_id - 1)
    {
    }

    // The driver that reads files of a format.
    std::string driver_of(int format);

    // Reads mapi.conf.  A device that is open with other settings than it has now stays open for the flows that it has; the next one
    // opens it anew.  When the file is wrong, all is as it was.
    ReloadedConfig reload();
    // A device of mapi.conf is opened by its first flow and closed with its last; one made by create_offline() stays.
    std::shared_ptr<Device> acquire(const std::string &name);
    // file: a descriptor to read in place of the path; stays the caller's.
    std::string create_offline(const std::string &path, int format, int file = -1);
    // MAPI 1: the device goes with its one flow.
    std::shared_ptr<Device> create_private(const std::string &path, int format, int file = -1);
    bool has(const std::string &name);
    // Whose members may use it, as mapi.conf says of the device or of another that reads the same; empty: it says nothing.
    std::string group_of(const std::string &name);
    std::string group_of(int id);
    // Of one that is not started: the capture is read, too.  file: as create_offline().
    void append_offline(const std::string &name, const std::string &path, int file = -1);
    void start_offline(const std::string &name);
    void delete_offline(const std::string &name);
    void set_option(const std::string &name, const std::string &key, const std::string &value);

    void describe(int id, mapi_device_info_t *info);
    int next(int id);
    // In the order of their ids, replaced ones among them.
    std::vector<ListedDevice> list();
    // What closed flows left with packet threads; false: one of these still has some of it.
    bool free_retired();
    // client: whose own drops are told, beside those of all; null: the only one.
    void copy_stats(const std::string &name, mapi_stat_t *stats, Client *client = nullptr);

private:
    enum class Kind { kConfigured, kOffline, kPrivate };
    struct Entry {
        int id = 0;
        DeviceSettings settings;
        std::weak_ptr<Device> open;
        std::shared_ptr<Device> kept; // of create_offline()
        std::shared_ptr<OwnedFile> file;
        std::vector<std::shared_ptr<OwnedFile>> more_files;
        Kind kind = Kind::kConfigured;
        bool is_opening = false;
        bool is_replaced = false;
        bool is_interface = false; // that no configuration names

        // Its one flow has gone.
        bool is_over() const { return kind == Kind::kPrivate && open.expired(); }
    };
    using Lock = std::unique_lock<std::mutex>;
    using KeyValues = std::vector<std::pair<std::string, std::string>>;

    // Under the lock; an entry that it let go meanwhile may have been removed.
    ReloadedConfig take_config(std::string file, Config config);
    void take_settings(DeviceSettings settings, ReloadedConfig &told);
    std::map<int, std::string> format_drivers();
    void refresh();
    void forget_unused();
    std::string find_group(const std::string &name) const;
    std::string find_group(const Entry &entry) const;
    std::shared_ptr<Entry> find(const std::string &name);
    std::shared_ptr<Entry> offline(const std::string &name);
    std::shared_ptr<Device> find_open(const std::string &name);
    std::shared_ptr<Device> open(Lock &lock, Entry &entry, bool start_at_connect);
    std::shared_ptr<Entry> add(Entry entry);
    std::shared_ptr<Entry> add_interface(const std::string &name);
    std::shared_ptr<Entry> add_file(Lock &lock, const std::string &path, const std::string &driver, int file, Kind kind);
    static std::shared_ptr<OwnedFile> keep_file(const std::string &path, int file);
    static mapi_device_info_t describe(const Entry &entry, const Device *device);

    const Registry &registry_;
    const DevicesOptions devices_options_;
    std::mutex mutex_;
    std::condition_variable opened_; // an entry is not being opened any more
    std::map<int, std::shared_ptr<Entry>> entries_;
    std::map<int, std::string> format_drivers_; // as reload() has read them
    std::map<std::string, KeyValues> options_; // set by the program; they win over mapi.conf
    std::string config_; // where the entries come from, for messages
    int last_id_;
};
} // namespace mapi::engine
