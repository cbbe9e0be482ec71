// SPDX-License-Identifier: MIT
#include "engine/registry/old_drivers.hpp"

#include <filesystem>

namespace mapi::engine
{
namespace
{
// mapi.conf may name a driver with or without its directory.
std::string last_part(const std::string &name)
{
    return std::filesystem::path(name).filename().string();
}

bool is_file(const std::string &path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) ||
           std::filesystem::is_fifo(path, ignored);
}
} // namespace

std::string present_driver(const std::string &written, const std::string &path)
{
    if (is_file(path))
        return present_file_driver(written);
    return last_part(written) == "mapinicdrv.so" ? "af_packet" : written;
}

std::string present_file_driver(const std::string &written)
{
    const std::string name = last_part(written);
    return name == "mapinicdrv.so" ? "pcap_file" : name == "mapidagdrv.so" ? "erf_file" : written;
}

bool is_old_driver(const std::string &name)
{
    const std::string last = last_part(name);
    return last.starts_with("mapi") && last.ends_with("drv.so");
}

std::string advice_for(const std::string &driver)
{
    if (last_part(driver) == "mapidagdrv.so")
        return "; DAG cards are unsupported: record with the card's own tools and read the ERF "
               "file (path=FILE)";
    if (is_old_driver(driver))
        return "; the cards of this MAPI 2 driver are unsupported: driver=af_packet or "
               "driver=pcap_live read a card that is a network interface, "
               "and driver=pcap_file reads what its own tools record";
    return {};
}
} // namespace mapi::engine
