// SPDX-License-Identifier: MIT
// Driver catalogue: one line per built-in driver.
#include "drivers/catalog.hpp"

namespace mapi::drivers
{
namespace
{
constexpr const mapi_driver *kDrivers[] = {
    &mapi_driver_pcap_file, &mapi_driver_erf_file, &mapi_driver_af_packet, &mapi_driver_pcap_live,
#ifdef NETSLICE_XDP
    &mapi_driver_xdp,
#endif
};
} // namespace

std::span<const mapi_driver *const> catalog()
{
    return kDrivers;
}
} // namespace mapi::drivers
