// SPDX-License-Identifier: MIT
#include "functions/cooking/segment.hpp"

#include <algorithm>
#include <utility>

#include "anonymize/bytes.hpp"
#include "functions/cooking/head.hpp"

namespace mapi::cooking
{
namespace
{
enum TcpOption : uint8_t {
    kEndOfOptions = 0,
    kNoOperation = 1,
    kWindowScale = 3,
    kSackPermitted = 4
};
constexpr uint8_t kScaleMost = 14; // RFC 7323 2.3

void read_options(Segment &segment, std::span<const uint8_t> options)
{
    for (size_t at = 0; at < options.size() && options[at] != kEndOfOptions;) {
        if (options[at] == kNoOperation) {
            ++at;
            continue;
        }
        const size_t left = options.size() - at, bytes = left < 2 ? 0 : options[at + 1];
        if (bytes < 2 || bytes > left)
            return;
        if (options[at] == kWindowScale && bytes == 3)
            segment.window_scale = std::min(options[at + 2], kScaleMost);
        segment.permits_sack |= options[at] == kSackPermitted;
        at += bytes;
    }
}
} // namespace

std::optional<Segment> read_segment(std::span<const uint8_t> source,
                                    std::span<const uint8_t> destination,
                                    std::span<const uint8_t> datagram)
{
    const uint32_t header_bytes = datagram.size() < kTcpBytes ? 0 : (datagram[12] >> 4) * 4u;
    if (header_bytes < kTcpBytes || header_bytes > datagram.size())
        return std::nullopt;
    std::optional<Segment> segment(std::in_place);
    Ends &ends = segment->ends;
    std::copy(source.begin(), source.end(), ends.end[0].address.begin());
    std::copy(destination.begin(), destination.end(), ends.end[1].address.begin());
    std::copy_n(datagram.begin(), 2, ends.end[0].port.begin());
    std::copy_n(datagram.begin() + 2, 2, ends.end[1].port.begin());
    ends.version = source.size() == 4 ? 4 : 6;
    if (ends.end[0] > ends.end[1]) {
        std::swap(ends.end[0], ends.end[1]);
        segment->from = 1;
    }
    segment->sequence = anonymize::word_at(datagram.data() + 4);
    segment->acknowledgment = anonymize::word_at(datagram.data() + 8);
    segment->flags = datagram[13];
    segment->has_acknowledgment = segment->flags & kAck;
    segment->window = anonymize::half_at(datagram.data() + 14);
    if (segment->flags & kSyn)
        read_options(*segment, datagram.subspan(kTcpBytes, header_bytes - kTcpBytes));
    segment->payload = datagram.subspan(header_bytes);
    return segment;
}

uint32_t cut_bytes_of(const mapi_packet &packet, const headers::IpLayer &layer)
{
    const uint8_t *const header = packet.data + layer.offset;
    const uint32_t reported =
        layer.version == 4 ? anonymize::half_at(header + 2) : anonymize::half_at(header + 4);
    if (reported == 0) // offload: extends to the end of the capture
        return packet.wire_len > packet.caplen ? packet.wire_len - packet.caplen : 0;
    const uint32_t end = layer.offset + reported + (layer.version == 4 ? 0 : 40);
    return end > layer.end ? end - layer.end : 0;
}
} // namespace mapi::cooking
