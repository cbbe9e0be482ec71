// SPDX-License-Identifier: MIT
// Device settings: the settings of a device, from mapi.conf or a call.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mapi/driver.h>

#include "engine/packet_path/burst.hpp"

namespace mapi::engine
{
struct DeviceSettings {
    std::string name;
    std::string alias;
    std::string description;
    std::string driver = "pcap_file";
    std::string path;
    std::string group;   // whose members may use it through mapid; empty: mapid's own group
    uint64_t repeat = 1; // number of times a file is read; 0 = forever
    unsigned batch = kBurstPackets; // maximum packets per unit of work; 1 = a unit is a packet
    uint64_t packets = 0;           // the device ends after that many; 0: no limit
    unsigned link_speed = 0;
    unsigned mpls = 0, vlan = 0;   // only reported
    bool tells_since_last = false; // results=since_last
    bool has_node_groups = true;   // functions of several flows may run in one pass
    bool waits_for_readers =
        true;      // if the source can; false if its readers belong to several clients
    int file = -1; // descriptor to read instead of path; the driver duplicates it
    std::vector<std::pair<std::string, int>> more; // further captures to read, as path and file
    std::vector<std::pair<std::string, std::string>> options; // the driver's, as written
    std::string origin;                                       // where it was defined: "file:line"

    // Returns why the key has no effect; empty if it has one.  Throws Error; its text has neither
    // file nor line.
    std::string set(const std::string &key, const std::string &value);
    // Keys that set() does not know belong to the driver, whose key may follow them in the file.
    // Returns one value for each option of the driver.  Throws Error.
    std::vector<uint64_t> option_values(const mapi_driver &table) const;
    // Whether a device opened with these settings reads the same as one opened with `other`.
    bool opens_like(const DeviceSettings &other) const
    {
        return driver == other.driver && path == other.path && repeat == other.repeat &&
               batch == other.batch && packets == other.packets &&
               tells_since_last == other.tells_since_last &&
               has_node_groups == other.has_node_groups && options == other.options;
    }
};
} // namespace mapi::engine
