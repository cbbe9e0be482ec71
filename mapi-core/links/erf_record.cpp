// SPDX-License-Identifier: MIT
// ERF record: its types and its validation.
#include "links/erf_record.hpp"

#include "links/link_type.hpp"

namespace mapi::links
{
namespace
{
constexpr uint32_t kExtensionBytes = 8;

struct Row {
    uint8_t number;
    ErfType type;
};

constexpr Row kRows[] = {
    {1, {ErfContent::kHdlc, false, 0, 0}},          // HDLC_POS
    {2, {ErfContent::kFrame, false, 2, kEthernet}}, // ETH, after an offset and a pad byte
    {5, {ErfContent::kHdlc, false, 4, 0}},          // MC_HDLC, after the channel number
    {10, {ErfContent::kHdlc, true, 0, 0}},          // COLOR_HDLC_POS
    {11, {ErfContent::kFrame, true, 2, kEthernet}}, // COLOR_ETH
    {15, {ErfContent::kHdlc, true, 0, 0}},          // DSM_COLOR_HDLC_POS
    {16, {ErfContent::kFrame, true, 2, kEthernet}}, // DSM_COLOR_ETH
    {17, {ErfContent::kHdlc, true, 4, 0}},          // COLOR_MC_HDLC_POS
    {19, {ErfContent::kHdlc, true, 0, 0}},          // COLOR_HASH_POS
    {20, {ErfContent::kFrame, true, 2, kEthernet}}, // COLOR_HASH_ETH
    {22, {ErfContent::kFrame, false, 0, kRaw}},     // IPV4
    {23, {ErfContent::kFrame, false, 0, kRaw}},     // IPV6
    {27, {ErfContent::kNothing, false, 0, 0}},      // META
    {ErfRecord::kPadding, {ErfContent::kNothing, false, 0, 0}},
};
// All other numbers up to this one: ATM, AAL2, AAL5, raw and InfiniBand links, counters.
constexpr uint8_t kLastForeign = 29;

constexpr std::array<ErfType, 128> make_types()
{
    std::array<ErfType, 128> types = {};
    for (uint8_t number = 1; number <= kLastForeign; ++number)
        types[number].content = ErfContent::kForeign;
    for (const Row &row : kRows)
        types[row.number] = row.type;
    return types;
}
} // namespace

constinit const std::array<ErfType, 128> kErfTypes = make_types();

bool is_far_from(uint32_t seconds_before, uint32_t seconds)
{
    constexpr uint32_t kMostSecondsBack = 60; // between interfaces of a card
    constexpr uint32_t kMostSecondsOn = 366 * 24 * 3600;
    return seconds_before != 0 &&
           (seconds < seconds_before ? seconds_before - seconds > kMostSecondsBack
                                     : seconds - seconds_before > kMostSecondsOn);
}

// The top bit of an extension header's first byte says whether another one follows.
uint32_t ErfRecord::extension_bytes(uint32_t end) const
{
    uint32_t found = 0;
    bool has_more = true;
    while (has_more && kHeaderBytes + found < end) {
        has_more = (start_[kHeaderBytes + found] & 0x80) != 0;
        found += kExtensionBytes;
    }
    return has_more ? end : found; // too large if a further header does not fit
}

std::string ErfRecord::header_contradiction() const
{
    if (bytes() < kHeaderBytes)
        return "a record of " + std::to_string(bytes()) + " bytes, shorter than its header of " +
               std::to_string(kHeaderBytes);
    if (type().content == ErfContent::kUnknown)
        return "a record of type " + std::to_string(type_number()) + ", which ERF does not have";
    return {};
}

std::string ErfRecord::contradiction() const
{
    std::string text = header_contradiction();
    if (text.empty() && frame_offset() > bytes())
        text = "a record of " + std::to_string(bytes()) + " bytes, shorter than its headers";
    return text;
}
} // namespace mapi::links
