// SPDX-License-Identifier: MIT
// TLS state: the payloads of a connection -> the versions and handshake messages of SSL and TLS in
// them, as the SSL preprocessor of Snort 2.9 sees them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace mapi::connections::tls
{
// Sets of what a connection has had.
enum Fact : uint32_t {
    kRead = 1 << 0, // payloads were read
    // Versions, of all payloads so far.
    kSsl2 = 1 << 1,
    kSsl3 = 1 << 2,
    kTls10 = 1 << 3,
    kTls11 = 1 << 4,
    kTls12 = 1 << 5, // TLS 1.3 has this version in its records
    kVersions = kSsl2 | kSsl3 | kTls10 | kTls11 | kTls12,
    // Of the last payload.
    kClientHello = 1 << 6,
    kServerHello = 1 << 7,
    kClientKey = 1 << 8,
    kServerKey = 1 << 9,
    kUnknown = 1 << 10, // not, or not only, well-formed records of one version
    kOfPayload = kClientHello | kServerHello | kClientKey | kServerKey | kUnknown,
    // What decides how the next payloads are read.
    kIsEncrypted = 1 << 11, // the server has said that its hello is done
    kOffersSsl3 = 1 << 12,  // a hello of SSL 2 with a later version
    // Of a payload alone: whether the connection has all that was found in it.
    kIsKnownRecord = 1 << 13,
    kHasBadVersion = 1 << 14,
};

// Whether connections of the port are read from their first payload on; those of other ports are
// from the first payload on that begins with a handshake record.
bool is_tls_port(uint16_t port);
bool begins_like_tls(std::span<const uint8_t> payload);

class State
{
public:
    void read(std::span<const uint8_t> payload, bool is_from_client);
    uint32_t facts() const { return facts_; }

private:
    uint32_t facts_ = 0;
    std::array<uint16_t, 2> rest_ =
        {}; // bytes of a cut record that are still to come; of each side
};
} // namespace mapi::connections::tls
