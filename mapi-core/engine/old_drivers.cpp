// SPDX-License-Identifier: MIT
#include "engine/old_drivers.hpp"

#include <filesystem>

namespace mapi::engine
{
namespace
{
// They were named with or without their folder.
std::string last_part(const std::string &name)
{
    return std::filesystem::path(name).filename().string();
}

bool is_file(const std::string &path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) || std::filesystem::is_fifo(path, ignored);
}
} // namespace

std::string present_driver(const std::string &written, const std::string &path)
{
    const std::string name = last_part(written);
    if (name == "mapinicdrv.so")
        return is_file(path) ? "pcap_file" : "af_packet";
    if (name == "mapidagdrv.so" && is_file(path))
        return "erf_file";
    return written;
}

std::string advice_for(const std::string &driver)
{
    const std::string name = last_part(driver);
    if (name == "mapidagdrv.so")
        return "; a DAG card itself cannot be read here: record with its own tools and read the ERF file (path=FILE)";
    if (name.starts_with("mapi") && name.ends_with("drv.so"))
        return "; cards that MAPI 2 had this driver for cannot be read here: driver=af_packet or driver=pcap_live read any that is a network interface, "
               "and driver=pcap_file what its own tools record";
    return {};
}
} // namespace mapi::engine
