// SPDX-License-Identifier: MIT
// Anonymizer: a rule and packets -> the packets with the rule's field changed in all their headers.
//
// What a rule cannot process it makes unreadable, so that no original value remains where a rule
// has failed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "anonymize/mutable_packet.hpp"
#include "anonymize/places/layers.hpp"
#include "anonymize/places/places.hpp"
#include "anonymize/rule.hpp"
#include "anonymize/transform/tables.hpp"
#include "anonymize/transform/transformer.hpp"

namespace mapi::anonymize
{
struct Counts {
    uint64_t packets = 0;
    uint64_t packets_without = 0; // that do not have the field
    uint64_t fields = 0;          // changed as the rule specifies
    // Made unreadable with zeros instead:
    uint64_t cut_fields = 0; // truncated by the capture
    uint64_t lost_packets =
        0; // zeroed from an unreadable header on: truncated, inconsistent or unknown
    uint64_t given_up = 0; // a search took too long, or memory or libcrypto failed
    // Done as far as possible:
    uint64_t no_room = 0;           // new value truncated or zero-padded to the old length
    uint64_t unknown_checksums = 0; // of incomplete bytes: set to zero

    bool operator==(const Counts &) const = default;
};

// Not thread-safe.
class Anonymizer
{
public:
    // The tables must outlive it.  A seed makes RANDOM's bytes reproducible.  Throws
    // std::runtime_error.
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
    std::unique_ptr<Transformer>
        transformer_; // null: the method does not transform a field's bytes
    Counts counts_;
    Places places_;              // of the packet; kept to reuse its memory
    std::vector<uint8_t> other_; // a field's new value; likewise
};
} // namespace mapi::anonymize
