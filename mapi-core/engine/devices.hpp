// SPDX-License-Identifier: MIT
// Devices: name -> device, from mapi.conf or from a capture file that the program names.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <mapi/results.h>

#include "engine/device.hpp"
#include "engine/registry.hpp"

namespace mapi::engine
{
struct DevicesOptions {
    int first_id = 1;
    bool is_shared = false; // devices of mapi.conf are used by several clients: none of them may hold one up
    bool has_captures_alone = false; // neither mapi.conf nor interfaces
};

// Any thread.  Everything throws Error.
class Devices
{
public:
    explicit Devices(const Registry &registry, DevicesOptions options = {})
        : registry_(registry), devices_options_(options), last_id_(options.first_id - 1)
    {
    }

    // A device of mapi.conf is opened by its first flow and closed with its last; one made by create_offline() stays.
    std::shared_ptr<Device> acquire(const std::string &name);
    // file: a descriptor to read in place of the path; stays the caller's.
    std::string create_offline(const std::string &path, int format, int file = -1);
    // MAPI 1: the device goes with its one flow.
    std::shared_ptr<Device> create_private(const std::string &path, int format, int file = -1);
    bool has(const std::string &name);
    // Whose members may use it, as mapi.conf says of the device or of another that reads the same; empty: it says nothing.
    std::string group_of(const std::string &name);
    void start_offline(const std::string &name);
    void delete_offline(const std::string &name);
    void set_option(const std::string &name, const std::string &key, const std::string &value);

    void describe(int id, mapi_device_info_t *info);
    int next(int id);
    void copy_stats(const std::string &name, mapi_stat_t *stats);

private:
    enum class Kind { kConfigured, kOffline, kPrivate };
    struct Entry {
        int id = 0;
        DeviceSettings settings;
        std::weak_ptr<Device> open;
        std::shared_ptr<Device> kept; // of create_offline()
        std::shared_ptr<OwnedFile> file;
        Kind kind = Kind::kConfigured;
    };
    using KeyValues = std::vector<std::pair<std::string, std::string>>;

    void read_config();
    Entry &find(const std::string &name);
    Entry &offline(const std::string &name);
    std::shared_ptr<Device> open(Entry &entry, bool start_at_connect);
    Entry &add_interface(const std::string &name);
    Entry &add_file(const std::string &path, int format, int file, Kind kind);

    const Registry &registry_;
    const DevicesOptions devices_options_;
    std::mutex mutex_;
    std::map<int, Entry> entries_;
    std::map<std::string, KeyValues> options_; // set by the program; they win over mapi.conf
    std::string config_; // where the entries come from, for messages
    int last_id_;
};
} // namespace mapi::engine
