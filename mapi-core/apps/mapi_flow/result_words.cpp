// SPDX-License-Identifier: MIT
// result_words: values -> text.
#include "result_words.hpp"

#include <cstddef>
#include <cstring>
#include <iterator>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace mapi_flow
{
namespace
{
constexpr uint64_t kNtpFrom1970 = 2208988800; // seconds from 1900
} // namespace

std::string time_text(uint64_t ntp)
{
    if (ntp == 0)
        return "none";
    if (ntp == UINT64_MAX)
        return "after 2106";
    return fmt::format("{}.{:09}", uint32_t((ntp >> 32) - kNtpFrom1970),
                       ((ntp & 0xffffffff) * 1000000000 + 0x80000000) >> 32);
}

std::string address_text(int family, const void *address)
{
    char text[INET6_ADDRSTRLEN] = "";
    return inet_ntop(family, address, text, sizeof(text)) ? text : "?";
}

std::string hex_text(const void *bytes, size_t count)
{
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * count);
    for (const uint8_t byte : std::span(static_cast<const uint8_t *>(bytes), count)) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

std::array<uint32_t, kExpiredFlowsCounts> expired_flows_counts(const flows_stat &result)
{
    std::array<uint32_t, kExpiredFlowsCounts> counts;
    const auto &more = *mapi_flows_more_of(&result);
    memcpy(counts.data(), &result, sizeof(result));
    memcpy(counts.data() + sizeof(result) / sizeof(uint32_t), &more,
           offsetof(mapi_flows_more_t, flow));
    return counts;
}

std::span<const std::string_view> expired_flows_names()
{
    static constexpr std::string_view kTotals[] = {"sent",
                                                   "received",
                                                   "expired",
                                                   "ignored",
                                                   "dropped",
                                                   "packets_sent",
                                                   "packets_received",
                                                   "packets_expired",
                                                   "packets_ignored",
                                                   "packets_dropped",
                                                   "early",
                                                   "other"};
    static_assert(std::size(kTotals) == kExpiredFlowsCounts);
    return kTotals;
}
} // namespace mapi_flow
