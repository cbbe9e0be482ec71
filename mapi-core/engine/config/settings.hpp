// SPDX-License-Identifier: MIT
// Device settings: what mapi.conf or a call says about a device.
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
    std::string group; // whose members may use it by mapid; empty: mapid's own
    uint64_t repeat = 1; // times a file is read; 0 = for ever
    unsigned batch = kBurstPackets; // packets a unit of work may have; 1 = a unit is a packet
    unsigned link_speed = 0;
    unsigned mpls = 0, vlan = 0; // told, no more
    bool tells_since_last = false; // of counts: what they have grown by since the flow's reader read them before
    bool waits_for_readers = true; // where the source can; not where its readers are of several clients
    int file = -1; // to read instead of path; the driver makes its own copy
    std::vector<std::pair<std::string, int>> more; // captures that are read, too, as path and file
    std::vector<std::pair<std::string, std::string>> options; // the driver's, as they were written
    std::string origin; // where this was read: "file:line"

    // Returns why the key has no effect, which is empty where it has one.  Throws Error; its text has neither file nor line.
    std::string set(const std::string &key, const std::string &value);
    // Any other key is the driver's, which may stand behind it in the file: one value for each option that the driver has.  Throws Error.
    std::vector<uint64_t> option_values(const mapi_driver &table) const;
    // Whether a device that was opened with these reads what one would that is opened with `other`.
    bool opens_like(const DeviceSettings &other) const
    {
        return driver == other.driver && path == other.path && repeat == other.repeat && batch == other.batch &&
               tells_since_last == other.tells_since_last && options == other.options;
    }
};
} // namespace mapi::engine
