// SPDX-License-Identifier: MIT
// interface: a name -> what sending needs to know of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "quantities.hpp"

namespace mapi_gen
{
struct Interface {
    std::string name;
    int index = 0;
    unsigned mtu = 0;
    Mac mac = {};
    bool has_carrier = false;
};

// Throws Refusal if there is no such interface, it is down, or is not of Ethernet.
Interface find_interface(const std::string &name);

// Packets to send that the interface itself has dropped since it exists, those of other programs
// included (tx_dropped of its statistics).  Nothing if it is gone.
std::optional<uint64_t> count_dropped(const Interface &interface);
} // namespace mapi_gen
