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

namespace mapi::client
{
// Any thread.  Everything throws Error.
class Devices
{
public:
    explicit Devices(const engine::Registry &registry) : registry_(registry) {}

    // A device of mapi.conf is opened by its first flow and closed with its last; one made by create_offline() stays.
    std::shared_ptr<engine::Device> acquire(const std::string &name);
    std::string create_offline(const std::string &path, int format);
    // MAPI 1: the device goes with its one flow.
    std::shared_ptr<engine::Device> create_private(const std::string &path, int format);
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
        engine::DeviceSettings settings;
        std::weak_ptr<engine::Device> open;
        std::shared_ptr<engine::Device> kept; // of create_offline()
        Kind kind = Kind::kConfigured;
    };
    using Options = std::vector<std::pair<std::string, std::string>>;

    void read_config();
    Entry &find(const std::string &name);
    Entry &offline(const std::string &name);
    std::shared_ptr<engine::Device> open(Entry &entry, bool start_at_connect);
    Entry &add_interface(const std::string &name);
    Entry &add_file(const std::string &path, int format, Kind kind);

    const engine::Registry &registry_;
    std::mutex mutex_;
    std::map<int, Entry> entries_;
    std::map<std::string, Options> options_; // set by the program; they win over mapi.conf
    std::string config_; // where the entries come from, for messages
    int last_id_ = 0;
};
} // namespace mapi::client
