// SPDX-License-Identifier: MIT
// ERF record: the bytes of one record of a DAG card -> its fields and the offset of its frame.
//
// A record has 8 bytes of time, in units of 2^-32 s, little-endian; type; flags; then, big-endian,
// the record length, losses or colour, and the wire length.  Extension headers of 8 bytes follow,
// then bytes that the type has before its frame.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace mapi::links
{
enum class ErfContent : uint8_t {
    kUnknown, // not a type of ERF
    kNothing, // padding, or metadata of the recorder
    kForeign, // a packet of an unsupported link type
    kFrame,
    kHdlc, // in Cisco's framing or PPP's; the type does not distinguish them
};

struct ErfType {
    ErfContent content;
    bool has_colour;       // in the field where other types count losses
    uint8_t between_bytes; // between the headers and the frame
    uint16_t link_type;
};

extern const std::array<ErfType, 128> kErfTypes; // by number

// Whether a record with these seconds cannot follow one with seconds_before; 0: there is no
// previous one.
bool is_far_from(uint32_t seconds_before, uint32_t seconds);

class ErfRecord
{
public:
    static constexpr uint32_t kHeaderBytes = 16;
    static constexpr uint8_t kPadding = 48;

    // `start` has at least kHeaderBytes; functions that need more say so.
    explicit ErfRecord(const uint8_t *start) : start_(start) {}

    uint32_t bytes() const { return big_endian(10); }
    uint8_t type_number() const { return start_[8] & 0x7f; }
    const ErfType &type() const { return kErfTypes[type_number()]; }
    // Bit 6 was added as the third bit of the interface for cards with more than four.
    uint16_t interface() const { return uint16_t((start_[9] & 3) | (start_[9] & 0x40) >> 4); }
    // Truncated by the card, received with an error, or damaged inside the card.
    bool has_error() const { return (start_[9] & 0x38) != 0; }
    uint32_t losses() const { return type().has_colour ? 0 : big_endian(12); }
    uint32_t wire_len() const { return big_endian(14); }
    uint32_t seconds() const { return little_endian(4); }

    uint64_t timestamp_ns() const
    {
        constexpr uint64_t kNsPerSecond = 1000000000;
        const uint64_t fraction = little_endian(0);
        return seconds() * kNsPerSecond +
               ((fraction * kNsPerSecond + (uint64_t(1) << 31)) >> 32); // rounded to the nearest
    }

    // Needs the record's first `available` bytes, at least kHeaderBytes.  Returns more than
    // `available` if the headers do not end in them.
    uint32_t frame_offset(uint32_t available) const
    {
        const uint32_t offset = kHeaderBytes + type().between_bytes;
        return start_[8] & 0x80 ? offset + extension_bytes(available) : offset;
    }
    // Needs the whole record.  Returns more than bytes() if the record is malformed.
    uint32_t frame_offset() const { return frame_offset(bytes()); }
    const uint8_t *frame() const { return start_ + frame_offset(); }

    // Why this cannot be an ERF record; empty if it can.  contradiction() needs the whole record.
    std::string header_contradiction() const;
    std::string contradiction() const;

private:
    uint32_t big_endian(unsigned place) const
    {
        return uint32_t(start_[place]) << 8 | start_[place + 1];
    }
    uint32_t little_endian(unsigned place) const
    {
        return uint32_t(start_[place]) | uint32_t(start_[place + 1]) << 8 |
               uint32_t(start_[place + 2]) << 16 | uint32_t(start_[place + 3]) << 24;
    }
    uint32_t extension_bytes(uint32_t end) const;

    const uint8_t *start_;
};
} // namespace mapi::links
