// SPDX-License-Identifier: MIT
// Walk: a position in a packet and what the previous header says about it; each step is taken by
// link.cpp, shim.cpp, ip.cpp or tunnel.cpp.
#pragma once

#include <cstdint>
#include <cstring>

#include "headers/headers.hpp"
#include "links/link_head.hpp"
#include "links/link_type.hpp"

namespace mapi::headers
{
constexpr uint16_t kPppoeSession = 0x8864;

// The kind of header at a position: each kind has one function that parses it.
enum class Next : uint8_t {
    kEnd,       // nothing that can be parsed
    kEthernet,  // destination and source address, then a type
    kEthertype, // as given by Walk::ethertype
    kPpp,       // a PPP protocol number
    kMpls,
    kIp,       // version in the first four bits
    kIpPayload // of the last layer
};

struct Walk {
    const uint8_t *data;
    uint32_t caplen;
    uint32_t wire_end; // end on the wire of what is being walked through
    uint32_t at = 0;
    uint16_t ethertype = 0;
    Next next = Next::kEnd;
    uint32_t guess = 0;   // start of a label stack's payload taken for Ethernet or IP, not yet
                          // verified by any header; 0: none
    bool is_lost = false; // an expected header cannot be read

    bool has(uint32_t bytes) const { return bytes <= caplen - at; }
    uint8_t byte(uint32_t offset) const { return data[at + offset]; }
    uint16_t half(uint32_t offset) const
    {
        return uint16_t(data[at + offset] << 8 | data[at + offset + 1]);
    }
    uint32_t word(uint32_t offset) const { return uint32_t(half(offset)) << 16 | half(offset + 2); }

    uint32_t little_half(uint32_t offset) const
    {
        return uint32_t(byte(offset)) | uint32_t(byte(offset + 1)) << 8;
    }
    uint32_t little_word(uint32_t offset) const
    {
        return little_half(offset) | little_half(offset + 2) << 16;
    }
    // In this machine's byte order.
    uint32_t host_half(uint32_t offset) const
    {
        uint16_t value;
        memcpy(&value, data + at + offset, sizeof(value));
        return value;
    }

    // Skips `bytes`, which must be present.
    void go(uint32_t bytes, Next what)
    {
        at += bytes;
        next = what;
    }
    void go_ethertype(uint32_t bytes, uint16_t type)
    {
        ethertype = type;
        go(bytes, Next::kEthertype);
    }
    void stop() { next = Next::kEnd; }
    void confirm() { guess = 0; }
    // After a guess, everything from there on is unreadable.
    void lose()
    {
        is_lost = true;
        if (guess != 0)
            at = guess;
        stop();
    }
};

// Uses the table of links/; is_lost reports whether the frame's header can be read at all.
void begin_other_link(Walk &walk, uint16_t link_type);
inline void begin_link(Walk &walk, uint16_t link_type)
{
    if (link_type == links::kEthernet) [[likely]]
        walk.go(0, Next::kEthernet);
    else
        begin_other_link(walk, link_type);
}
// Logical link control (IEEE 802.2) after that many bytes.
void begin_llc(Walk &walk, uint32_t bytes);
void begin_wireless(Walk &walk, links::Start start);
void step_ethernet(Walk &walk);
void step_ppp(Walk &walk);
void step_ethertype(Walk &walk, Headers &headers);
void step_mpls(Walk &walk, Headers &headers);
void step_ip(Walk &walk, Headers &headers);
// Continues with the payload of a tunnel.
void step_ip_payload(Walk &walk, const Headers &headers);
} // namespace mapi::headers
