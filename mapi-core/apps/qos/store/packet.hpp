// SPDX-License-Identifier: MIT
// packet: what a point stores of a selected packet.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace qos
{
// One direction of a conversation.  IPv4 addresses use 4 bytes, the rest is 0.
struct FlowKey {
    std::array<uint8_t, 16> source{};
    std::array<uint8_t, 16> destination{};
    uint16_t source_port = 0; // 0: the protocol has no ports
    uint16_t destination_port = 0;
    uint8_t version = 4;
    uint8_t protocol = 0;

    auto operator<=>(const FlowKey &) const = default;
    FlowKey reversed() const;
};

struct FlowKeyHash {
    size_t operator()(const FlowKey &key) const;
};

struct SelectedPacket {
    int64_t time_ns = 0; // since 1970, by the clock of its point
    uint64_t digest = 0;
    uint32_t hash = 0; // by which it was selected
    uint32_t bytes = 0;
    uint8_t hop_limit = 0;
    FlowKey flow;
};

std::string address_text(const std::array<uint8_t, 16> &address, uint8_t version);
// nullopt if it is not the text of an address.
std::optional<std::array<uint8_t, 16>> address_of(const std::string &text, uint8_t version);
// "17 10.0.0.1:53>10.0.0.2:5353", with brackets around IPv6 addresses.
std::string flow_text(const FlowKey &flow);
} // namespace qos
