// SPDX-License-Identifier: MIT
// Fuzz target: any bytes as a packet -> the bytes by which points recognise it, no byte read
// outside the packet; the hop limit and the traffic class never change them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "functions/common/bob_hash.hpp"
#include "functions/common/invariant_bytes.hpp"

namespace
{
using mapi::functions::InvariantBytes;

std::optional<InvariantBytes> invariant_of(const std::vector<uint8_t> &bytes, uint32_t payload)
{
    mapi_packet packet{};
    packet.data = bytes.data();
    packet.caplen = packet.wire_len = uint32_t(bytes.size());
    packet.link_type = 1;
    const mapi::headers::Headers headers = mapi::headers::parse(packet);
    if (headers.is_lost || !headers.innermost())
        return std::nullopt;
    return mapi::functions::invariant_bytes_of(packet, *headers.innermost(), payload);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    constexpr size_t kIp = 14;
    if (size < 2)
        return 0;
    const uint32_t payload = data[0] % 2 ? data[1] : InvariantBytes::kMostPayload;
    std::vector<uint8_t> bytes(data + 2, data + size); // exactly this length
    const auto before = invariant_of(bytes, payload);
    if (!before)
        return 0;
    if (before->bytes().size() < 2)
        abort();
    const bool is_plain_ipv4 =
        bytes.size() > kIp + 20 && bytes[12] == 8 && bytes[13] == 0 && bytes[kIp] == 0x45;
    volatile uint32_t sink = mapi::functions::bob_hash(before->bytes(), 0);
    sink = sink + 1;
    if (!is_plain_ipv4)
        return 0;
    bytes[kIp + 1] = uint8_t(~bytes[kIp + 1]);
    bytes[kIp + 8] = uint8_t(~bytes[kIp + 8]);
    const auto after = invariant_of(bytes, payload);
    if (!after || !std::equal(before->bytes().begin(), before->bytes().end(),
                              after->bytes().begin(), after->bytes().end()))
        abort();
    return 0;
}
