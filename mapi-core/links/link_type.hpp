// SPDX-License-Identifier: MIT
// Link type: the LINKTYPE_ numbers used in this project (tcpdump.org/linktypes.html).
#pragma once

#include <cstdint>

namespace mapi::links
{
enum LinkType : uint16_t {
    kNull = 0,
    kEthernet = 1,
    kTokenRing = 6,
    kSlip = 8,
    kPpp = 9,
    kFddi = 10,
    kPppHdlc = 50,
    kPppEther = 51,
    kAtmLlc = 100,
    kRaw = 101,
    kSlipBsdOs = 102,
    kPppBsdOs = 103,
    kCiscoHdlc = 104,
    kWireless = 105, // IEEE 802.11
    kAtmClip = 106,
    kFrameRelay = 107,
    kLoop = 108,
    kEnc = 109,
    kLinuxSll = 113,
    kPflog = 117,
    kWirelessPrism = 119,
    kIpOverFc = 122,
    kSunAtm = 123,
    kWirelessRadiotap = 127,
    kIpOverFirewire = 138,
    kWirelessAvs = 163,
    kPppd = 166,
    kErfEthernet = 175,
    kErfPos = 176,
    kUsbLinux = 189,
    kPpi = 192,
    kErf = 197,
    kPppWithDirection = 204,
    kCiscoHdlcWithDirection = 205,
    kFrameRelayWithDirection = 206,
    kMpls = 219,
    kUsbLinuxMmapped = 220,
    kIpnet = 226,
    kIpv4 = 228,
    kIpv6 = 229,
    kNflog = 239,
    kNetAnalyzer = 240,
    kNetAnalyzerTransparent = 241,
    kIpoib = 242,
    kPktap = 258,
    kLinuxSll2 = 276,
};

// Old programs wrote their system's own number, even if it differs from the LINKTYPE_ number
// (libpcap's DLT_ numbers on Linux; 14 is OpenBSD's DLT_RAW).
constexpr uint32_t from_recorded(uint32_t number)
{
    switch (number) {
    case 11: return kAtmLlc;
    case 12:
    case 14: return kRaw;
    case 15: return kSlipBsdOs;
    case 16: return kPppBsdOs;
    case 19: return kAtmClip;
    default: return number;
    }
}
} // namespace mapi::links
