// SPDX-License-Identifier: MIT
// Driver catalogue: the list of built-in drivers.
#pragma once

#include <span>

#include <mapi/driver.h>

extern "C" const mapi_driver mapi_driver_pcap_file;
extern "C" const mapi_driver mapi_driver_af_packet;
extern "C" const mapi_driver mapi_driver_pcap_live;
extern "C" const mapi_driver mapi_driver_erf_file;
extern "C" const mapi_driver mapi_driver_xdp; // if NETSLICE_XDP is defined

namespace mapi::drivers
{
std::span<const mapi_driver *const> catalog();
} // namespace mapi::drivers
