// SPDX-License-Identifier: MIT
// Anonymizer: finds the field's places and changes them from last to first, so that earlier ones do
// not move.
#include "anonymize/anonymizer.hpp"

#include <algorithm>

#include "anonymize/bytes.hpp"
#include "anonymize/checksum.hpp"
#include "anonymize/splice.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr uint32_t kHeaderBytes = 20; // of IPv4 and TCP, without options
constexpr uint32_t kFlowLabelMask = 0xfffff;

bool is_of_bytes(Method method)
{
    return method != Method::kUnchanged && method != Method::kStrip &&
           method != Method::kChecksumAdjust;
}

void zero(MutablePacket &packet, uint32_t offset, uint32_t bytes)
{
    std::fill_n(packet.data + offset, bytes, uint8_t(0));
}

// Headers express their length in words of 4 bytes: IPv4 in the low half of its first byte, TCP in
// the high half of its 13th.
void put_header_bytes(MutablePacket &packet, const Place &options, uint32_t bytes)
{
    uint8_t *header = packet.data + options.offset - kHeaderBytes;
    if (options.shape == Shape::kIpOptions)
        header[0] = uint8_t((header[0] & 0xf0) | bytes / 4);
    else
        header[12] = uint8_t((header[12] & 0x0f) | bytes / 4 << 4);
}
} // namespace

Anonymizer::Anonymizer(Rule rule, Tables &tables, std::optional<uint64_t> seed)
    : rule_(std::move(rule)),
      transformer_(is_of_bytes(rule_.method) ? make_transformer(rule_, tables, seed) : nullptr)
{
}

void Anonymizer::apply(MutablePacket &packet) noexcept
{
    ++counts_.packets;
    if (rule_.method == Method::kUnchanged)
        return;
    Layers layers = find_layers(packet.view());
    try {
        treat(packet, layers);
    } catch (...) { // out of memory: it is unknown which fields are done
        zero(packet, 0, packet.caplen);
        ++counts_.given_up;
    }
}

void Anonymizer::treat(MutablePacket &packet, Layers &layers)
{
    if (rule_.method == Method::kChecksumAdjust) {
        if (!has_protocol(rule_.protocol, packet.view(), layers))
            ++counts_.packets_without;
        counts_.unknown_checksums += adjust_checksums(packet, layers, rule_.protocol);
        return;
    }
    if (layers.lost) { // before anything moves
        zero(packet, *layers.lost, packet.caplen - *layers.lost);
        ++counts_.lost_packets;
    }
    find_places(rule_, packet.view(), layers, places_);
    counts_.packets_without += places_.empty() && !layers.lost;
    for (auto place = places_.rbegin(); place != places_.rend(); ++place)
        treat_place(packet, layers, *place);
}

void Anonymizer::treat_place(MutablePacket &packet, Layers &layers, const Place &place)
{
    if (place.is_cut) {
        zero(packet, place.offset, place.bytes);
        ++counts_.cut_fields;
    } else if (rule_.method == Method::kStrip) {
        strip(packet, layers, place);
        ++counts_.fields;
    } else if (place.bytes == 0) { // a header line without a value
        return;
    } else if (place.shape == Shape::kTrafficClass || place.shape == Shape::kFlowLabel) {
        treat_bits(packet, place);
    } else {
        transform(packet, layers, place);
    }
}

// As numbers of 1 and 4 bytes; the label uses the lowest 20 bits.
void Anonymizer::treat_bits(MutablePacket &packet, const Place &place)
{
    const bool is_class = place.shape == Shape::kTrafficClass;
    uint8_t *at = packet.data + place.offset;
    const uint32_t word = word_at(at);
    uint8_t field[4] = {};
    put_word(field, is_class ? word >> 20 << 24 : word & kFlowLabelMask);
    other_.clear();
    const std::span<uint8_t> bytes(field, is_class ? 1 : 4);
    switch (transformer_->transform(bytes, other_)) {
    case Transformer::Outcome::kInPlace: break;
    case Transformer::Outcome::kOther:
        std::ranges::fill(bytes, uint8_t(0));
        std::copy_n(other_.begin(), std::min(other_.size(), bytes.size()), bytes.begin());
        break;
    case Transformer::Outcome::kUnknown:
        std::ranges::fill(bytes, uint8_t(0));
        ++counts_.given_up;
        break;
    }
    const uint32_t mask = is_class ? 0x0ff00000 : kFlowLabelMask;
    const uint32_t value = is_class ? uint32_t(field[0]) << 20 : word_at(field) & kFlowLabelMask;
    put_word(at, (word & ~mask) | value);
    ++counts_.fields;
}

void Anonymizer::transform(MutablePacket &packet, Layers &layers, const Place &place)
{
    other_.clear();
    switch (transformer_->transform({packet.data + place.offset, place.bytes}, other_)) {
    case Transformer::Outcome::kInPlace: ++counts_.fields; break;
    case Transformer::Outcome::kOther:
        put_other(packet, layers, place);
        ++counts_.fields;
        break;
    case Transformer::Outcome::kUnknown:
        zero(packet, place.offset, place.bytes);
        ++counts_.given_up;
        break;
    }
}

void Anonymizer::put_other(MutablePacket &packet, Layers &layers, const Place &place)
{
    if (place.shape == Shape::kText) {
        if (splice(packet, layers, place.offset, place.bytes, other_))
            return;
        ++counts_.no_room;
    }
    const size_t bytes = std::min<size_t>(other_.size(), place.bytes);
    std::copy_n(other_.begin(), bytes, packet.data + place.offset);
    zero(packet, place.offset + uint32_t(bytes), place.bytes - uint32_t(bytes));
}

void Anonymizer::strip(MutablePacket &packet, Layers &layers, const Place &place)
{
    uint32_t keep = std::min(rule_.keep_bytes, place.bytes);
    if (place.shape != Shape::kText)
        keep -= keep % 4;
    const bool is_line = place.shape == Shape::kText && rule_.keep_bytes == 0;
    const uint32_t offset = is_line ? place.line_offset : place.offset + keep;
    const uint32_t bytes = is_line ? place.line_bytes : place.bytes - keep;
    if (bytes == 0)
        return;
    if (!splice(packet, layers, offset, bytes, {})) { // fails if a length field is wrong
        zero(packet, offset, bytes);
        ++counts_.no_room;
    } else if (place.shape != Shape::kText) {
        put_header_bytes(packet, place, kHeaderBytes + keep);
    }
}
} // namespace mapi::anonymize
