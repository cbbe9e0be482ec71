// SPDX-License-Identifier: MIT
// Device settings: what mapi.conf or a call says about a device.
#pragma once

#include <cstdint>
#include <string>

namespace mapi::engine
{
struct DeviceSettings {
    std::string name;
    std::string alias;
    std::string description;
    std::string driver = "pcap_file";
    std::string path;
    uint64_t repeat = 1; // times a file is read; 0 = for ever
    unsigned batch = 64; // packets a unit of work may have; 1 = a unit is a packet
    unsigned link_speed = 0;
    std::string origin; // where this was read: "file:line"

    // Throws Error; its text has neither file nor line.
    void set(const std::string &key, const std::string &value);
};
} // namespace mapi::engine
