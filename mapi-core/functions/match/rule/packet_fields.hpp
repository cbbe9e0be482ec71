// SPDX-License-Identifier: MIT
// Packet fields: a packet view -> its payload and the numbers in its headers that rules test.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <mapi/packet.h>

#include "match/rule/options.hpp"

namespace mapi::match::rule
{
// A set of IP options, by their type.
constexpr uint32_t option_bit(uint8_t type)
{
    switch (type) {
    case 0: return 1 << 0;   // end of list
    case 1: return 1 << 1;   // no operation
    case 7: return 1 << 2;   // record route
    case 68: return 1 << 3;  // time stamp
    case 130: return 1 << 4; // security
    case 131: return 1 << 5; // loose source route
    case 132: return 1 << 6; // loose source route of Snort's lsrre
    case 133: return 1 << 7; // extended security
    case 136: return 1 << 8; // stream identifier
    case 137: return 1 << 9; // strict source route
    default: return 1 << 10;
    }
}

// Of the innermost IP header.  The view must outlive it.
class PacketFields
{
public:
    PacketFields() = default;
    explicit PacketFields(const mapi_packet &packet);

    // The bytes after the header of TCP, UDP or ICMP, otherwise of the IP header; empty if there is
    // no IP header.
    std::span<const uint8_t> payload() const { return payload_; }
    bool is_tcp() const { return is_tcp_; }
    bool is_udp() const { return is_udp_; }
    enum class Unread : uint8_t { kNothing, kHeaders, kLinkType };
    // What could not be read, up to the transport header.
    Unread unread() const { return unread_; }
    // 0 unless it is IPv4.
    uint32_t source_ip4() const { return source_ip4_; }
    // Nullopt: the packet has no such field.  Not for those of URIs.
    std::optional<uint32_t> value(Field field) const;

private:
    // Most packets: whole TCP in IPv4 without options, in Ethernet.  False: read_headers() is
    // needed.
    bool read_plain_tcp(const mapi_packet &packet);
    void read_headers(const mapi_packet &packet);
    std::optional<uint32_t> ip_value(Field field) const;
    std::optional<uint32_t> ip4_value(Field field) const;
    std::optional<uint32_t> transport_value(Field field) const;

    std::span<const uint8_t> network_ = {};   // the IP header, as far as it was captured
    std::span<const uint8_t> transport_ = {}; // the header at its end, if it is whole
    std::span<const uint8_t> payload_ = {};
    uint32_t source_ip4_ = 0;
    uint8_t version_ = 0; // 0: no IP header
    uint8_t protocol_ = 0;
    Unread unread_ = Unread::kNothing;
    bool is_tcp_ = false;
    bool is_udp_ = false;
    bool is_icmp_ = false;
    bool has_same_addresses_ = false;
    uint32_t fragment_ = 0; // IPv6: flags and offset as in IPv4's header
};

// Whether the value passes.
bool passes(const FieldTest &test, uint32_t value);
} // namespace mapi::match::rule
