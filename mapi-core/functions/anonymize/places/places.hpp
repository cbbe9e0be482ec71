// SPDX-License-Identifier: MIT
// Places: a field of a rule -> where its bytes lie in a packet: once, many times or nowhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mapi/packet.h>

#include "anonymize/places/layers.hpp"
#include "anonymize/rule.hpp"

namespace mapi::anonymize
{
enum class Shape : uint8_t {
    kFixed,        // a number or an address: so many bytes, neither more nor less
    kText,         // may become longer or shorter
    kIpOptions,    // 20 bytes behind the header's first; what is left is a multiple of 4
    kTcpOptions,   // the same
    kTrafficClass, // 8 bits from the 5th of an IPv6 header's word
    kFlowLabel,    // 20 bits from the 13th of it
};

struct Place {
    uint32_t offset = 0; // from the packet's first byte
    uint32_t bytes = 0;
    // What STRIP takes away when it keeps nothing: a header line with its end, not only what it says.
    uint32_t line_offset = 0;
    uint32_t line_bytes = 0;
    Shape shape = Shape::kFixed;
    bool is_cut = false; // the capture ends in the middle of it
};

// In a packet's order; none lies in another.
using Places = std::vector<Place>;

void find_places(const Rule &rule, const mapi_packet &packet, const Layers &layers, Places &places);

// Whether the packet has the rule's protocol in any layer.
bool has_protocol(Protocol protocol, const mapi_packet &packet, const Layers &layers);

// Steps of find_places(), each for its part of the vocabulary.
void find_ip_places(Field field, const mapi_packet &packet, const Layers &layers, Places &places);
void find_transport_places(Protocol protocol, Field field, const mapi_packet &packet, const Layers &layers, Places &places);
// What a segment begins with; headers that go on from the segment before are known on the ports of HTTP only.
enum class HttpStart : uint8_t { kNone, kMessage, kRequestHeaders, kResponseHeaders };
HttpStart http_start(const mapi_packet &packet, const IpLayer &layer);
// `text` begins `offset` bytes behind the packet's first.
void find_http_places(Field field, std::span<const uint8_t> text, uint32_t offset, HttpStart start, Places &places);
void find_ftp_places(Field field, std::span<const uint8_t> text, uint32_t offset, bool is_command, Places &places);

// Behind a TCP header that is whole; empty: there is none, or nothing behind it.
std::span<const uint8_t> tcp_text(const mapi_packet &packet, const IpLayer &layer);
// Of FTP's control connection: 1 to the server, 0 from it, -1 neither.
int ftp_direction(const mapi_packet &packet, const IpLayer &layer);

// The part of a number or address that lies before `end`.
void add_fixed(Places &places, uint32_t offset, uint32_t bytes, uint32_t end);
// Leaves out what lies in the place before: a quoted packet's payload in the payload that quotes it.
void add_text(Places &places, uint32_t offset, uint32_t end, Shape shape = Shape::kText);
} // namespace mapi::anonymize
