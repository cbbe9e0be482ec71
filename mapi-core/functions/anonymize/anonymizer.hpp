// SPDX-License-Identifier: MIT
// Anonymizer: a rule and packets -> the packets with the rule's field changed in all their headers.
//
// What a rule cannot do it makes unreadable: whoever asks for anonymity never gets the original where the rule failed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "anonymize/places/layers.hpp"
#include "anonymize/mutable_packet.hpp"
#include "anonymize/places/places.hpp"
#include "anonymize/rule.hpp"
#include "anonymize/transform/tables.hpp"
#include "anonymize/transform/transformer.hpp"

namespace mapi::anonymize
{
struct Counts {
    uint64_t packets = 0;
    uint64_t packets_without = 0; // that do not have the field
    uint64_t fields = 0;          // that were changed as the rule says
    // Made unreadable instead, with zeros:
    uint64_t cut_fields = 0;   // the capture ends inside
    uint64_t lost_packets = 0; // from a header on that is cut, contradicts itself or is not known: anything may be there
    uint64_t given_up = 0;     // a search took too long, or memory or libcrypto failed
    // Done as far as it went:
    uint64_t no_room = 0;           // the new value has been cut to the old one's length, or filled up with zeros
    uint64_t unknown_checksums = 0; // of bytes that are not all there: they became zero

    bool operator==(const Counts &) const = default;
};

// Not for two threads at once.
class Anonymizer
{
public:
    // The tables outlive it.  A seed makes RANDOM's bytes the same again.  Throws std::runtime_error.
    explicit Anonymizer(Rule rule, Tables &tables, std::optional<uint64_t> seed = std::nullopt);

    // Reads and writes data up to data + room.
    void apply(MutablePacket &packet) noexcept;
    const Counts &counts() const { return counts_; }

private:
    void treat(MutablePacket &packet, Layers &layers);
    void treat_place(MutablePacket &packet, Layers &layers, const Place &place);
    void treat_bits(MutablePacket &packet, const Place &place);
    void transform(MutablePacket &packet, Layers &layers, const Place &place);
    void put_other(MutablePacket &packet, Layers &layers, const Place &place);
    void strip(MutablePacket &packet, Layers &layers, const Place &place);

    Rule rule_;
    std::unique_ptr<Transformer> transformer_; // null: the method is no function of a field's bytes
    Counts counts_;
    Places places_;              // of the packet; kept for its memory
    std::vector<uint8_t> other_; // a field's new value; the same
};
} // namespace mapi::anonymize
