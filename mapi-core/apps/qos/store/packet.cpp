// SPDX-License-Identifier: MIT
// packet: flows <-> text.
#include "qos/store/packet.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

namespace qos
{
FlowKey FlowKey::reversed() const
{
    FlowKey other = *this;
    other.source = destination;
    other.destination = source;
    other.source_port = destination_port;
    other.destination_port = source_port;
    return other;
}

size_t FlowKeyHash::operator()(const FlowKey &key) const
{
    const auto text = [](const std::array<uint8_t, 16> &bytes) {
        return std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    };
    const std::hash<std::string_view> hash;
    const uint64_t ports = uint64_t(key.source_port) << 32 | uint64_t(key.destination_port) << 16 |
                           uint64_t(key.protocol);
    return (hash(text(key.source)) * 31 + hash(text(key.destination))) * 31 +
           std::hash<uint64_t>{}(ports * 0x9e3779b97f4a7c15);
}

std::string address_text(const std::array<uint8_t, 16> &address, uint8_t version)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(version == 4 ? AF_INET : AF_INET6, address.data(), text.data(), text.size());
    return text.data();
}

std::optional<std::array<uint8_t, 16>> address_of(const std::string &text, uint8_t version)
{
    std::array<uint8_t, 16> address{};
    if (inet_pton(version == 4 ? AF_INET : AF_INET6, text.c_str(), address.data()) != 1)
        return std::nullopt;
    return address;
}

std::string flow_text(const FlowKey &flow)
{
    const char *const form = flow.version == 4 ? "{} {}:{}>{}:{}" : "{} [{}]:{}>[{}]:{}";
    return fmt::format(fmt::runtime(form), flow.protocol, address_text(flow.source, flow.version),
                       flow.source_port, address_text(flow.destination, flow.version),
                       flow.destination_port);
}
} // namespace qos
