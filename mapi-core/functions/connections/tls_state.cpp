// SPDX-License-Identifier: MIT
// TLS state: records, and handshake messages in them, within one payload.  A record that is cut is
// skipped at the begin of the side's next payload.
#include "functions/connections/tls_state.hpp"

#include <algorithm>

namespace mapi::connections::tls
{
namespace
{
using Bytes = std::span<const uint8_t>;

constexpr size_t kRecordBytes = 5, kMessageBytes = 4; // before the content

uint32_t big_16(Bytes bytes, size_t at)
{
    return uint32_t(bytes[at] << 8 | bytes[at + 1]);
}

uint32_t big_24(Bytes bytes, size_t at)
{
    return uint32_t(bytes[at]) << 16 | big_16(bytes, at + 1);
}

Bytes behind(Bytes bytes, size_t count)
{
    return bytes.subspan(std::min(count, bytes.size()));
}

uint32_t version_of(uint8_t major, uint8_t minor)
{
    constexpr std::array<uint32_t, 4> kMinor = {kSsl3, kTls10, kTls11, kTls12};
    return major == 3 && minor < kMinor.size() ? kMinor[minor] : kHasBadVersion;
}

// Messages of a handshake record.
uint32_t read_handshake(Bytes record, uint32_t before, bool is_from_client)
{
    enum : uint8_t {
        kHelloRequest = 0,
        kClientHelloType = 1,
        kServerHelloType = 2,
        kCertificate = 11,
        kServerKeyType = 12,
        kCertificateRequest = 13,
        kServerDone = 14,
        kCertificateVerify = 15,
        kClientKeyType = 16,
        kCertificateUrl = 21,
        kCertificateStatus = 22
    };
    const auto of = [&](bool is_side, uint32_t facts) { return is_side ? facts : 0; };
    uint32_t found = 0;
    while (record.size() >= kMessageBytes) {
        const uint8_t type = record[0];
        const size_t length = big_24(record, 1);
        const Bytes content = record.subspan(kMessageBytes);
        switch (type) {
        case kClientHelloType:
        case kServerHelloType:
            found |= type == kClientHelloType ? of(is_from_client, kClientHello | kIsKnownRecord)
                                              : of(!is_from_client, kServerHello | kIsKnownRecord);
            if (content.size() < 2)
                break;
            found |= version_of(content[0], content[1]);
            if ((before & kVersions) != (found & kVersions))
                found |= kHasBadVersion;
            break;
        case kServerDone: found |= of(!is_from_client, kIsEncrypted); break;
        case kServerKeyType: found |= of(!is_from_client, kServerKey | kIsKnownRecord); break;
        case kClientKeyType: found |= of(is_from_client, kClientKey | kIsKnownRecord); break;
        case kCertificate: found |= kIsKnownRecord; break;
        case kHelloRequest:
        case kCertificateVerify:
        case kCertificateRequest:
        case kCertificateUrl:
        case kCertificateStatus: break;
        default: return 0; // likely encrypted
        }
        record = behind(content, length);
    }
    return found;
}

// Records of SSL 3 and TLS.  `rest`: see State.
uint32_t read_records(Bytes bytes, bool is_from_client, uint16_t &rest)
{
    enum : uint8_t { kChangeCipher = 20, kAlert = 21, kHandshake = 22, kApplication = 23 };
    if (bytes.size() < rest) {
        rest = uint16_t(rest - bytes.size());
        return 0;
    }
    bytes = bytes.subspan(rest);
    rest = 0;
    uint32_t found = 0;
    bool has_changed = false, was_change = false;
    while (bytes.size() >= kRecordBytes) {
        const uint8_t type = bytes[0];
        const uint32_t length = big_16(bytes, 3);
        found |= version_of(bytes[1], bytes[2]);
        const Bytes content = bytes.subspan(kRecordBytes);
        rest = uint16_t(length > content.size() ? length - content.size() : 0);
        if (type == kAlert || type == kApplication)
            found |= kIsKnownRecord;
        else if (type == kHandshake && !has_changed)
            found |= read_handshake(content.first(std::min<size_t>(length, content.size())), found,
                                    is_from_client);
        else if (type == kHandshake && was_change)
            found |= kIsEncrypted;
        was_change = type == kChangeCipher;
        has_changed |= was_change;
        bytes = behind(content, length);
    }
    if (!(found & kVersions) || (found & kHasBadVersion)) {
        rest = 0;
        found |= kUnknown;
    }
    return found;
}

// Records of SSL 2.  As in Snort, all are of the first one's type and length.
uint32_t read_ssl2(Bytes bytes, bool is_from_client)
{
    enum : uint8_t { kClientHelloType = 1, kClientKeyType = 2, kServerHelloType = 4 };
    constexpr size_t kServerHelloBytes = 7;
    const uint8_t type = bytes[2];
    const size_t length = (big_16(bytes, 0) & 0x7fff) + 2;
    uint32_t found = 0;
    while (!bytes.empty()) {
        if (bytes.size() < kRecordBytes) {
            found |= kUnknown;
            break;
        }
        if (type == kClientHelloType) {
            found |= is_from_client ? kClientHello | kIsKnownRecord : 0;
            if (bytes[3] == 3 && bytes[4] <= 3)
                found |= kOffersSsl3;
            else if (bytes[4] != 2)
                found |= kUnknown;
        } else if (type == kServerHelloType) {
            found |= is_from_client ? 0 : kServerHello | kIsKnownRecord;
            if (bytes.size() < kServerHelloBytes || bytes[6] != 2)
                found |= kUnknown;
        } else if (type == kClientKeyType) {
            found |= kClientKey | kIsKnownRecord;
        } else {
            return found | kUnknown;
        }
        bytes = behind(bytes, length);
    }
    return found | kSsl2;
}

// Whether a record and the handshake message in it do not have the same end.
bool disagrees(Bytes bytes)
{
    return int64_t{big_16(bytes, 3)} - int64_t{kMessageBytes} != int64_t{big_24(bytes, 6)};
}

// A 2 where SSL 2 has its version may be another thing in TLS.
bool is_ssl2(Bytes bytes, bool is_in_record)
{
    if ((bytes[0] & 0xc0) && !is_in_record)
        return true;
    if (bytes.size() == kRecordBytes)
        return false;
    if (bytes[4] == 2)
        return bytes.size() >= 10 && bytes[9] == 3 && disagrees(bytes);
    return bytes.size() >= 9 && bytes[7] == 2 && disagrees(bytes);
}
} // namespace

bool is_tls_port(uint16_t port)
{
    static constexpr std::array<uint16_t, 9> kPorts = {443, 465, 563, 636, 989, 992, 993, 994, 995};
    return std::ranges::find(kPorts, port) != kPorts.end();
}

bool begins_like_tls(Bytes payload)
{
    constexpr uint8_t kHandshake = 22;
    return payload.size() >= kRecordBytes && payload[0] == kHandshake &&
           (version_of(payload[1], payload[2]) & kVersions);
}

void State::read(Bytes payload, bool is_from_client)
{
    uint16_t &rest = rest_[is_from_client ? 0 : 1];
    facts_ = (facts_ & ~kOfPayload) | kRead;
    uint32_t found = kUnknown;
    if (payload.size() >= kRecordBytes) {
        found = !(facts_ & kIsEncrypted) && is_ssl2(payload, rest > 0)
                    ? read_ssl2(payload, is_from_client)
                    : read_records(payload, is_from_client, rest);
    }
    const uint32_t versions = found & kVersions;
    if ((facts_ & kOffersSsl3) && (found & kServerHello) && versions != 0 && versions != kSsl2)
        facts_ &= ~uint32_t{kSsl2 | kOffersSsl3};
    if (found & (kIsKnownRecord | kSsl2 | kUnknown))
        facts_ |= found & ~uint32_t{kIsKnownRecord | kHasBadVersion};
}
} // namespace mapi::connections::tls
