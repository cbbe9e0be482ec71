// SPDX-License-Identifier: MIT
// result_words: text that lines and JSON have in common: times, addresses, bytes, names.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include <mapi/expiredflowshash.h>
#include <mapi/mapi.h>

namespace mapi_flow
{
// Seconds since 1970, up to 2106 (the NTP era rolls over in 2036).  All ones: a time after that.
std::string time_text(uint64_t ntp);
std::string address_text(int family, const void *address);
std::string hex_text(const void *bytes, size_t count);
constexpr size_t kExpiredFlowsCounts = 12;
// The totals of EXPIRED_FLOWS, and their names in the same order.
std::array<uint32_t, kExpiredFlowsCounts> expired_flows_counts(const flows_stat &result);
std::span<const std::string_view> expired_flows_names();

// The result may be unaligned.
template <class Object> Object copy_of(const mapi_results_t &results)
{
    Object object = {};
    memcpy(&object, results.res, std::min(sizeof(object), size_t(results.size)));
    return object;
}
} // namespace mapi_flow
