// SPDX-License-Identifier: MIT
// Fuzz target: a link type and any bytes as a packet -> layers in order and inside the packet, no
// byte read outside it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "headers/headers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static constexpr uint16_t kLinkTypes[] = {0,   1,   9,   50,  101, 104, 108, 113, 228, 229, 276,
                                              6,   8,   10,  51,  100, 102, 103, 105, 106, 107, 109,
                                              117, 119, 122, 123, 127, 138, 163, 166, 175, 192, 197,
                                              204, 205, 206, 219, 226, 239, 240, 241, 242, 258};
    if (size == 0)
        return 0;
    const std::vector<uint8_t> bytes(
        data + 1, data + size); // exactly this length, so that an access beyond it is detected
    mapi_packet packet{};
    packet.data = bytes.data();
    packet.caplen = packet.wire_len = uint32_t(bytes.size());
    packet.link_type = kLinkTypes[data[0] % std::size(kLinkTypes)];
    const mapi::headers::Headers headers = mapi::headers::parse(packet);
    if (headers.rest > packet.caplen)
        abort();
    uint32_t before = headers.network;
    volatile uint8_t sink = 0;
    for (unsigned i = 0; i < headers.ip_layers; ++i) {
        const mapi::headers::IpLayer &layer = headers.ip[i];
        if (layer.offset < before || layer.transport <= layer.offset ||
            layer.end < layer.transport || layer.end > packet.caplen)
            abort();
        before = layer.transport;
        sink =
            uint8_t(sink ^ source_of(packet, layer).front() ^ destination_of(packet, layer).back());
        if (const auto ports = ports_of(packet, layer))
            sink = uint8_t(sink ^ ports->source);
    }
    return 0;
}
