// SPDX-License-Identifier: MIT
// Packet texts: a packet view -> the bytes that a rule's options look at, each made when it is
// first needed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <mapi/packet.h>

#include "match/rule/formats/sip_message.hpp"
#include "match/rule/http_parts.hpp"
#include "match/rule/options.hpp"
#include "match/rule/packet_fields.hpp"
#include "match/text/folded_text.hpp"

namespace mapi::match::rule
{
// One object serves packet after packet.  Not thread-safe.
class PacketTexts
{
public:
    using Bytes = std::span<const uint8_t>;

    // The view must live until the next call.
    void begin(const mapi_packet &packet);
    // Forgets what a rule has decoded: the next one does not see it.
    void begin_rule() { base64_.clear(); }

    const PacketFields &fields() const { return fields_; }
    std::optional<uint32_t> value(Field field);
    // Nullopt: the packet has no such bytes.  Not for Buffer::kCurrent.
    std::optional<Bytes> text(Buffer buffer);
    // The same with letters in lower case, for a buffer that the packet has.  Null: out of memory.
    const uint8_t *folded(Buffer buffer);

    // Null: the packet has none.
    const SipMessage *sip();

    // Makes Buffer::kBase64 of this encoded text.  False: there is nothing to decode.
    bool decode_base64(Bytes encoded, uint32_t most_bytes);

private:
    void read_http_once();

    PacketFields fields_;
    enum Protocol : uint8_t { kHttp = 1, kSip = 2 };
    uint8_t read_ = 0; // set of protocols
    HttpParts http_;
    std::optional<SipMessage> sip_;
    std::vector<uint8_t> base64_;
    uint32_t folded_ = 0; // set of buffers with a current copy
    std::array<FoldedText, kBuffers> folded_texts_;
    std::array<const uint8_t *, kBuffers> folded_places_ = {};
};
} // namespace mapi::match::rule
