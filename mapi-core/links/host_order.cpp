// SPDX-License-Identifier: MIT
// Host order: address families of BSD loopback and IPsec, headers of Linux usbmon, netfilter log,
// PF log and SocketCAN.
#include "links/host_order.hpp"

#include <algorithm>
#include <cstring>

#include "links/link_type.hpp"

namespace mapi::links
{
namespace
{
// False if the captured bytes do not contain the whole field; then nothing changes.
bool swap_bytes(uint8_t *data, uint32_t caplen, uint32_t offset, uint32_t bytes)
{
    if (caplen < bytes || offset > caplen - bytes)
        return false;
    std::reverse(data + offset, data + offset + bytes);
    return true;
}

uint32_t word_at(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

uint32_t half_at(const uint8_t *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof(half));
    return half;
}

void swap_family(uint8_t *data, uint32_t caplen)
{
    swap_bytes(data, caplen, 0, 4);
}

// Family, SPI in network byte order, flags.
void swap_enc(uint8_t *data, uint32_t caplen)
{
    swap_bytes(data, caplen, 0, 4);
    swap_bytes(data, caplen, 8, 4);
}

// User and process of the packet's owner, then of the rule's; the header's first byte is its
// length.  Older OpenBSD headers end before these fields.
void swap_pflog(uint8_t *data, uint32_t caplen)
{
    constexpr uint32_t kFirst = 44, kEnd = 60;
    if (caplen == 0)
        return;
    for (uint32_t at = kFirst; at < kEnd && at + 4 <= data[0]; at += 4)
        swap_bytes(data, caplen, at, 4);
}

// CAN and CAN FD: the identifier (an id and flags).  CAN XL: priority, length and acceptance field.
void swap_can(uint8_t *data, uint32_t caplen, uint32_t protocol)
{
    enum Protocol : uint32_t { kCan = 0x000c, kCanFd = 0x000d, kCanXl = 0x000e };
    if (protocol != kCan && protocol != kCanFd && protocol != kCanXl)
        return;
    swap_bytes(data, caplen, 0, 4);
    if (protocol == kCanXl) {
        swap_bytes(data, caplen, 6, 2);
        swap_bytes(data, caplen, 8, 4);
    }
}

// The protocol itself is in network byte order.
template <uint32_t kProtocolOffset, uint32_t kHeaderBytes>
void swap_can_in_sll(uint8_t *data, uint32_t caplen)
{
    if (caplen > kHeaderBytes)
        swap_can(data + kHeaderBytes, caplen - kHeaderBytes,
                 uint32_t(data[kProtocolOffset]) << 8 | data[kProtocolOffset + 1]);
}

// For an isochronous transfer the kernel's buffer has a descriptor for each packet: status, offset,
// length, padding.
void swap_descriptors(uint8_t *data, uint32_t caplen, uint32_t offset, uint32_t count)
{
    constexpr uint32_t kDescriptorBytes = 16;
    for (uint32_t i = 0; i < count; ++i, offset += kDescriptorBytes) {
        for (uint32_t field = 0; field < 12; field += 4) {
            if (!swap_bytes(data, caplen, offset + field, 4))
                return;
        }
    }
}

// struct usbmon_packet of Linux, Documentation/usb/usbmon.rst.
template <bool kIsMmapped> void swap_usb(uint8_t *data, uint32_t caplen)
{
    constexpr struct {
        uint32_t offset, bytes;
    } kFields[] = {{0, 8}, {12, 2}, {16, 8}, {24, 4}, {28, 4}, {32, 4}, {36, 4}};
    constexpr uint32_t kTransferType = 9, kIsochronous = 0, kSetup = 40, kRest = 48,
                       kDescriptors = 64;
    for (const auto &field : kFields)
        swap_bytes(data, caplen, field.offset, field.bytes);
    const bool is_isochronous = caplen > kTransferType && data[kTransferType] == kIsochronous;
    for (uint32_t offset = kSetup; is_isochronous && offset < kRest; offset += 4)
        swap_bytes(data, caplen, offset, 4); // counts of errors and descriptors; other transfers
                                             // have the bytes of a setup packet here
    if (!kIsMmapped)
        return;
    for (uint32_t offset = kRest; offset < kDescriptors; offset += 4)
        swap_bytes(data, caplen, offset, 4); // interval, start frame, flags, number of descriptors
    if (is_isochronous && caplen >= kDescriptors)
        swap_descriptors(data, caplen, kDescriptors, word_at(data + kDescriptors - 4));
}

// A header of 4 bytes, then attributes: length, type, and a value padded to 4 bytes.
void swap_nflog(uint8_t *data, uint32_t caplen)
{
    constexpr uint32_t kHeaderBytes = 4, kAttributeBytes = 4;
    if (caplen < kHeaderBytes || data[1] != 0) // the only existing version is 0
        return;
    for (uint32_t at = kHeaderBytes; caplen - at >= kAttributeBytes;) {
        swap_bytes(data, caplen, at, 2);
        swap_bytes(data, caplen, at + 2, 2);
        const uint32_t bytes = (half_at(data + at) + 3u) & ~3u;
        if (bytes < kAttributeBytes || bytes > caplen - at)
            return;
        at += bytes;
    }
}
} // namespace

Swap swap_of(uint16_t link_type)
{
    switch (link_type) {
    case kNull: return swap_family;
    case kEnc: return swap_enc;
    case kPflog: return swap_pflog;
    case kLinuxSll: return swap_can_in_sll<14, 16>;
    case kLinuxSll2: return swap_can_in_sll<0, 20>;
    case kUsbLinux: return swap_usb<false>;
    case kUsbLinuxMmapped: return swap_usb<true>;
    case kNflog: return swap_nflog;
    default: return nullptr;
    }
}
} // namespace mapi::links
