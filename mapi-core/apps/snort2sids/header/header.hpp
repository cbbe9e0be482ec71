// SPDX-License-Identifier: MIT
// header: "alert tcp $HOME_NET any -> any 80" -> action, protocol, addresses, ports.
#pragma once

#include <string>
#include <string_view>

#include "addresses.hpp"
#include "ports.hpp"
#include "snort2sids/source/variables.hpp"

namespace snort2sids
{
enum class Protocol { kIp, kTcp, kUdp, kIcmp };

struct Side {
    AddressSet addresses;
    PortSet ports;
    bool operator==(const Side &other) const
    {
        return addresses == other.addresses && ports == other.ports;
    }
};

struct Header {
    std::string action;
    Protocol protocol = Protocol::kIp;
    Side from, to;
    bool is_bidirectional = false;
    bool has_ignored_ports = false; // of ip and icmp, where Snort 2.9 takes any port
    size_t body = 0;                // offset of the "(", or the size of the text
};

// Throws Malformed with an offset in `text`.
Header read_header(std::string_view text, const Variables &variables);
} // namespace snort2sids
