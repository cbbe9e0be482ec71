// SPDX-License-Identifier: MIT
// Places: a field of a rule -> the location of its bytes in a packet: once, several times or
// nowhere.
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
    kFixed,        // a number or an address of fixed length
    kText,         // may grow or shrink
    kIpOptions,    // starts at byte 20 of the header; its length is a multiple of 4
    kTcpOptions,   // likewise
    kTrafficClass, // 8 bits, starting at the 5th of an IPv6 header's first word
    kFlowLabel,    // 20 bits, starting at the 13th of it
};

struct Place {
    uint32_t offset = 0; // from the packet's first byte
    uint32_t bytes = 0;
    // What STRIP removes if it keeps nothing: a header line with its line end, not only its value.
    uint32_t line_offset = 0;
    uint32_t line_bytes = 0;
    Shape shape = Shape::kFixed;
    bool is_cut = false; // truncated by the capture
};

// In packet order; no place lies inside another.
using Places = std::vector<Place>;

void find_places(const Rule &rule, const mapi_packet &packet, const Layers &layers, Places &places);

// Whether the packet has the rule's protocol in any layer.
bool has_protocol(Protocol protocol, const mapi_packet &packet, const Layers &layers);

// Steps of find_places(), each for its part of the vocabulary.
void find_ip_places(Field field, const mapi_packet &packet, const Layers &layers, Places &places);
void find_transport_places(Protocol protocol, Field field, const mapi_packet &packet,
                           const Layers &layers, Places &places);
// What a segment begins with; headers continued from the previous segment are recognized only on
// HTTP ports.
enum class HttpStart : uint8_t { kNone, kMessage, kRequestHeaders, kResponseHeaders };
HttpStart http_start(const mapi_packet &packet, const IpLayer &layer);
// `text` begins `offset` bytes after the packet's first.
void find_http_places(Field field, std::span<const uint8_t> text, uint32_t offset, HttpStart start,
                      Places &places);
void find_ftp_places(Field field, std::span<const uint8_t> text, uint32_t offset, bool is_command,
                     Places &places);

// The text after a complete TCP header; empty if there is no such header or nothing follows it.
std::span<const uint8_t> tcp_text(const mapi_packet &packet, const IpLayer &layer);
// For FTP's control connection: 1 to the server, 0 from it, -1 neither.
int ftp_direction(const mapi_packet &packet, const IpLayer &layer);

// Adds the part of a number or address that lies before `end`.
void add_fixed(Places &places, uint32_t offset, uint32_t bytes, uint32_t end);
// Skips text inside the previous place, such as a quoted packet's payload in the payload that
// quotes it.
void add_text(Places &places, uint32_t offset, uint32_t end, Shape shape = Shape::kText);
} // namespace mapi::anonymize
