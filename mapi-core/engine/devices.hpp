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
#include "engine/registry/registry.hpp"

namespace mapi::engine
{
class Devices;

struct DevicesOptions {
    int first_id = 1;
    bool is_shared = false; // devices of mapi.conf have several clients, none of which may block
                            // one, and only reload() reads the file
    bool has_captures_alone = false; // no devices of mapi.conf and no interfaces
    Devices *formats = nullptr;      // whose mapi.conf names the drivers of captures; null: its own
    PlanObserver on_plan = {};
    std::shared_ptr<Quota> quota = {}; // for drivers' memory; null: not charged
};

// The result of reload(), by device name.
struct ReloadedConfig {
    std::string file; // empty: no mapi.conf
    size_t devices = 0;
    std::vector<std::string> added, changed, removed;
    std::vector<std::string> warnings;
};

struct ListedDevice {
    mapi_device_info_t info = {};
    std::shared_ptr<Device> open; // null until its first flow opens it
    bool is_replaced = false;     // mapi.conf has changed since; it is closed with its last flow
    std::string group;            // whose members may use it; empty: not set in mapi.conf
};

// Any thread; opening a device blocks only callers that need the same one.  All functions throw
// Error.
class Devices
{
public:
    explicit Devices(const Registry &registry, const DevicesOptions &options = {})
        : registry_(registry), devices_options_(options), last_id_(options.first_id - 1)
    {
    }

    // The driver that reads files of a format.
    std::string driver_of(int format);

    // Reads mapi.conf.  A device that is open with different settings stays open for its existing
    // flows; the next flow opens it again.  After an error in the file nothing changes.
    ReloadedConfig reload();
    // A device of mapi.conf is opened by its first flow and closed with its last; one created by
    // create_offline() stays open.
    std::shared_ptr<Device> acquire(const std::string &name);
    // file: a descriptor to read instead of the path; the caller keeps ownership.
    std::string create_offline(const std::string &path, int format, int file = -1);
    // MAPI 1: the device is closed with its only flow.
    std::shared_ptr<Device> create_private(const std::string &path, int format, int file = -1);
    bool has(const std::string &name);
    // The group whose members may use it, from mapi.conf's section of the device or of another one
    // with the same path; empty if not set.
    std::string group_of(const std::string &name);
    std::string group_of(int id);
    // Adds a capture to a device that is not started.  file: as for create_offline().
    void append_offline(const std::string &name, const std::string &path, int file = -1);
    void start_offline(const std::string &name);
    void delete_offline(const std::string &name);
    void set_option(const std::string &name, const std::string &key, const std::string &value);

    void describe(int id, mapi_device_info_t *info);
    int next(int id);
    // In the order of their ids, including replaced ones.
    std::vector<ListedDevice> list();
    // Throws Error if it is not open.
    std::shared_ptr<Device> find_opened(const std::string &name);
    // Frees what closed flows left behind; false if a packet thread still uses some of it.
    bool free_retired();
    // client: its own drops are reported in addition to the total; null: the only client.
    void copy_stats(const std::string &name, mapi_stat_t *stats, Client *client = nullptr);

private:
    enum class Kind { kConfigured, kOffline, kPrivate };
    struct Entry {
        int id = 0;
        DeviceSettings settings;
        std::weak_ptr<Device> open;
        std::shared_ptr<Device> kept; // by create_offline()
        std::shared_ptr<OwnedFile> file;
        std::vector<std::shared_ptr<OwnedFile>> more_files;
        Kind kind = Kind::kConfigured;
        bool is_opening = false;
        bool is_replaced = false;
        bool is_interface = false; // without a section in mapi.conf

        // Its only flow is closed.
        bool is_over() const { return kind == Kind::kPrivate && open.expired(); }
    };
    using Lock = std::unique_lock<std::mutex>;
    using KeyValues = std::vector<std::pair<std::string, std::string>>;

    // Under the lock; a function that takes `lock` may release it meanwhile, and entries may be
    // removed then.
    ReloadedConfig take_config(std::string file, Config config);
    void take_settings(DeviceSettings settings, ReloadedConfig &reported);
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
    std::shared_ptr<Entry> add_file(Lock &lock, const std::string &path, const std::string &driver,
                                    int file, Kind kind);
    static std::shared_ptr<OwnedFile> keep_file(const std::string &path, int file);
    mapi_device_info_t describe(const Entry &entry, const Device *device) const;

    const Registry &registry_;
    const DevicesOptions devices_options_;
    std::mutex mutex_;
    std::condition_variable opened_; // an entry has been opened, or failed to open
    std::map<int, std::shared_ptr<Entry>> entries_;
    std::map<int, std::string> format_drivers_; // as read by reload()
    std::map<std::string, KeyValues> options_;  // set by the program; override mapi.conf
    std::string config_;                        // the file that defines the entries, for messages
    int last_id_;
};
} // namespace mapi::engine
