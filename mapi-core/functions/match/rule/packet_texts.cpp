// SPDX-License-Identifier: MIT
// Packet texts: headers at once; HTTP, copies in lower case and decoded text on demand.
#include "match/rule/packet_texts.hpp"

#include "match/rule/formats/base64.hpp"

namespace mapi::match::rule
{
void PacketTexts::begin(const mapi_packet &packet)
{
    fields_ = PacketFields(packet);
    read_ = 0;
    base64_.clear();
    folded_ = 0;
}

void PacketTexts::read_http_once()
{
    if (read_ & kHttp)
        return;
    read_ |= kHttp;
    http_.clear();
    if (fields_.is_tcp())
        read_http(fields_.payload(), http_);
}

const SipMessage *PacketTexts::sip()
{
    if (!(read_ & kSip)) {
        read_ |= kSip;
        const bool may_have = fields_.is_tcp() || fields_.is_udp();
        sip_ = may_have ? read_sip(fields_.payload()) : std::nullopt;
    }
    return sip_ ? &*sip_ : nullptr;
}

std::optional<PacketTexts::Bytes> PacketTexts::text(Buffer buffer)
{
    switch (buffer) {
    case Buffer::kPayload: return fields_.payload();
    case Buffer::kBase64: return base64_.empty() ? std::nullopt : std::optional<Bytes>(base64_);
    case Buffer::kSipHeader: return sip() ? std::optional(sip_->header) : std::nullopt;
    case Buffer::kSipBody: return sip() ? std::optional(sip_->body) : std::nullopt;
    default: break;
    }
    read_http_once();
    return http_.find(buffer);
}

const uint8_t *PacketTexts::folded(Buffer buffer)
{
    const auto place = size_t(buffer);
    if (!(folded_ >> place & 1)) {
        const Bytes bytes = text(buffer).value_or(Bytes());
        folded_places_[place] = folded_texts_[place].copy(bytes.data(), bytes.size());
        folded_ |= 1u << place;
    }
    return folded_places_[place];
}

std::optional<uint32_t> PacketTexts::value(Field field)
{
    if (field != Field::kUriBytes && field != Field::kRawUriBytes)
        return fields_.value(field);
    const auto uri = text(field == Field::kUriBytes ? Buffer::kUri : Buffer::kRawUri);
    return uri ? std::optional(uint32_t(uri->size())) : std::nullopt;
}

bool PacketTexts::decode_base64(Bytes encoded, uint32_t most_bytes)
{
    folded_ &= ~(1u << size_t(Buffer::kBase64));
    rule::decode_base64(encoded, most_bytes, base64_);
    return !base64_.empty();
}
} // namespace mapi::match::rule
