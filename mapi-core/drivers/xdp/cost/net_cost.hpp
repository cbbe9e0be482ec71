// SPDX-License-Identifier: MIT
// The net cost of a program: runs on packets, minus runs of an empty program on the same packets.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <mapi/driver_cost.h>

#include "drivers/xdp/cost/program_copy.hpp"

namespace mapi::drivers::xdp
{
using PacketBytes = std::vector<uint8_t>;

// A program that only passes the packet.  Throws KernelRefusal.
ipc::Descriptor load_empty_program(bool takes_fragments);

// Each packet has at least 14 bytes.  Ends early once is_over(), or after some seconds, with the
// packets until then.
// Throws KernelRefusal.
mapi_cost_net measure_net_cost(ProgramCopy &copy, int empty,
                               const std::vector<PacketBytes> &packets,
                               const std::function<bool()> &is_over);
} // namespace mapi::drivers::xdp
